"""``rra push``: an artifact or a bundle goes to a registry."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rra.api._anonymous import Anonymity, AnonymousReport, blanked, keep_mapping, mapping_place
from rra.api._catalog import add_to_catalogue, open_catalogue
from rra.api._copy import CopyReport, carry, copy_bundle, registry_reference, target_reference
from rra.api._result import Progress, VerbResult, silent
from rra.bundle.reference import DirectoryReference, RegistryReference, parse_reference
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.bundle.measured import MeasuredBundle
    from rra.bundle.reader import Bundle
    from rra.errors import Problem


@dataclasses.dataclass(frozen=True, kw_only=True)
class PushReport(VerbResult):
    """A bundle in a registry; the answer is no, and nothing was sent, when a rule objects.

    Attributes:
        source: What was pushed: a directory, or a bundle with its digest.
        target: Reference of the bundle, with its digest once it is there.
        pushed: What was sent; None when a rule objects.
        catalog: The catalogue that lists it now, with its digest; None for none.
        anonymous: What became of it when it was made anonymous; None when it was sent as it is.
    """

    source: str
    target: str
    pushed: CopyReport | None = None
    catalog: str | None = None
    anonymous: AnonymousReport | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        document = self.pushed.to_json() if self.pushed is not None else {}
        if self.anonymous is not None:
            document["anonymous"] = self.anonymous.to_json()
        return document | {
            "source": self.source,
            "target": self.target,
            "pushed": self.pushed is not None,
            "catalog": self.catalog,
        }


def push(
    source: str,
    target: str,
    *,
    catalog: str | None = None,
    plain_http: bool = False,
    anonymous: Anonymity | None = None,
    progress: Progress = silent,
) -> PushReport:
    """Send an artifact or a bundle to a registry.

    A directory is checked against the rules first, as `rra.api.pack` does it. Its files are then
    read twice and copied nowhere: once to know the digests, before anything is sent, and once
    more on their way.

    Args:
        source: Directory of an artifact, or reference of a bundle.
        target: ``HOST[:PORT]/REPOSITORY[:TAG]``; the tag is the version by default.
        catalog: Catalogue that is to list it, ``HOST[:PORT]/REPOSITORY[:TAG]``; it is made when
            there is none.
        plain_http: Speak to a registry without TLS; on this machine that is found out.
        anonymous: Send a copy without what identifies the authors; the answer is no, and nothing
            is sent, when something of it is left.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or bundle, the target is no registry, or a bundle is
            to be made anonymous.
        PatchError: An artifact that is to be anonymous has repairs that do not lead to its code.
        FormatError: The artifact cannot be packed; carries every problem.
        CorruptError: Bytes are not what vouches for them.
        UnavailableError: A file changes while it is read.
        LoginError: The registry wants a login, or refuses the one it was given.
        RegistryError: The registry does not answer, refuses, or breaks off.
    """
    if catalog is None:
        return _pushed(source, target, anonymous, plain_http=plain_http, progress=progress)
    place = registry_reference(target, "rra push", "rra pack, rra copy")
    book = open_catalogue(catalog, plain_http=plain_http, progress=progress)
    if f"{place.origin}/{place.repository}:{place.tag}" == book.name:
        message = f"{book.name} cannot be both the bundle and the catalogue that lists it"
        raise UsageError(message, hint="nothing was sent; name another tag for one of them")
    done = _pushed(source, target, anonymous, plain_http=plain_http, progress=progress)
    if done.pushed is None:
        return done
    listed = add_to_catalogue(book, done.target, plain_http=plain_http, progress=progress)
    return dataclasses.replace(done, catalog=listed)


def _pushed(
    source: str,
    target: str,
    anonymous: Anonymity | None,
    *,
    plain_http: bool,
    progress: Progress,
) -> PushReport:
    """Send an artifact or a bundle; see `push`."""
    from rra.bundle.annotations import creation_time
    from rra.registry import reach

    target_reference(target)
    place = registry_reference(target, "rra push", "rra pack, rra copy")
    named = parse_reference(source)
    if not isinstance(named, DirectoryReference):
        if anonymous is not None:
            message = f"{source} is a bundle, and a bundle is not rewritten"
            raise UsageError(message, hint="give the directory of the artifact")
        sent = copy_bundle(named, place, plain_http=plain_http, progress=progress)
        return PushReport(
            source=sent.source, target=sent.target, pushed=sent, problems=sent.problems
        )
    # Imported only for a directory: a bundle is sent without what artifacts are made of.
    from rra.api._pack import gate
    from rra.artifact import load_artifact

    reach(place, plain_http=plain_http)
    artifact = load_artifact(named.path)
    root = str(artifact.root)
    if problems := gate(artifact, progress=progress):
        return PushReport(source=root, target=target, exit_code=1, problems=problems)
    if anonymous is not None:
        return _anonymously(artifact, place, anonymous, plain_http=plain_http, progress=progress)
    created = creation_time(artifact.root)
    made, bundle, warnings = _measured(artifact, place.tag, created, progress)
    sent = carry(made, bundle, root, place, plain_http=plain_http, progress=progress)
    problems = (*artifact.warnings, *warnings)
    return PushReport(source=root, target=sent.target, pushed=sent, problems=problems)


def _anonymously(
    artifact: Artifact,
    place: RegistryReference,
    wanted: Anonymity,
    *,
    plain_http: bool,
    progress: Progress,
) -> PushReport:
    """Send an anonymous copy; the mapping that stays with the author is written first."""
    from rra.api._pack import gate

    private = mapping_place(artifact, wanted, None)
    root = str(artifact.root)
    with blanked(artifact, wanted, progress) as done:
        copy, problems = done.artifact, done.problems
        if copy is not None:
            problems = gate(copy, progress=progress)
        if copy is None or problems:
            return PushReport(
                source=root,
                target=str(place),
                anonymous=done.report,
                exit_code=1,
                problems=problems,
            )
        made, bundle, warnings = _measured(copy, place.tag, None, progress)
        report = keep_mapping(done, wanted, private, bundle.descriptor.digest)
        sent = carry(made, bundle, root, place, plain_http=plain_http, progress=progress)
    problems = (*copy.warnings, *warnings, *done.warnings)
    return PushReport(
        source=root, target=sent.target, pushed=sent, anonymous=report, problems=problems
    )


def _measured(
    artifact: Artifact, tag: str | None, created: str | None, progress: Progress
) -> tuple[MeasuredBundle, Bundle, tuple[Problem, ...]]:
    """Make the bundle of an artifact, of which no byte is kept that can be read again."""
    from rra.bundle.measured import MeasuredBundle
    from rra.bundle.pack import pack_bundle
    from rra.bundle.reader import read_bundle

    made = MeasuredBundle(str(artifact.root))
    packed = pack_bundle(artifact, made, tag, created=created, progress=progress)
    return made, read_bundle(made, digest=packed.descriptor.digest), packed.warnings
