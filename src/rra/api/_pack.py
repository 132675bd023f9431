"""``rra pack``: an artifact becomes a bundle in a folder or file."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._anonymous import Anonymity, AnonymousReport, blanked, keep_mapping, mapping_place
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, layout, load_artifact
from rra.bundle.reference import (
    ArchiveReference,
    BundleReference,
    DirectoryReference,
    LayoutReference,
    RegistryReference,
    WebReference,
    parse_reference,
)
from rra.errors import CorruptError, Problem, UsageError

if TYPE_CHECKING:
    from rra.bundle.pack import PackResult
    from rra.bundle.store import BundleWriter


@dataclasses.dataclass(frozen=True, kw_only=True)
class PackReport(VerbResult):
    """What was packed; the answer is no, and nothing was written, when a rule objects.

    Attributes:
        artifact: Directory of the artifact.
        target: Reference of the bundle, with its digest once it is made.
        packed: The bundle; None when a rule objects, or when a second packing differs.
        checked: Whether it was packed a second time, under other conditions, with the same result.
        anonymous: What became of it when it was made anonymous; None when it was packed as it is.
    """

    artifact: Path
    target: str
    packed: PackResult | None = None
    checked: bool = False
    anonymous: AnonymousReport | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        document: dict[str, Any] = {
            "artifact": str(self.artifact),
            "target": self.target,
            "packed": self.packed is not None,
            "checked": self.checked,
        }
        if self.anonymous is not None:
            document["anonymous"] = self.anonymous.to_json()
        if self.packed is not None:
            config = self.packed.config
            document |= {
                "digest": self.packed.descriptor.digest,
                "tag": self.packed.tag,
                "core": config.core,
                "size": sum(layer.size for layer in config.layers),
                "layers": [
                    {"title": title, **layer.to_json()}
                    for title, layer in zip(self.packed.titles, config.layers, strict=True)
                ],
            }
        return document


def pack(
    artifact: str | Path,
    target: str,
    *,
    check: bool = False,
    anonymous: Anonymity | None = None,
    progress: Progress = silent,
) -> PackReport:
    """Check an artifact against the rules and make its bundle.

    Every finding that is an error stops it, as do records whose files are missing or changed:
    what is shared cannot be taken back. Nothing is written then.

    Args:
        artifact: Directory of the artifact.
        target: ``oci-layout:DIR[:TAG]`` or ``oci-archive:FILE[:TAG]``; the version is the tag
            by default.
        check: Pack a copy under other conditions too; the answer is no, and nothing is written,
            when the two differ.
        anonymous: Make the bundle of a copy without what identifies the authors; the answer is
            no, and nothing is written, when something of it is left.
        progress: Called with one line for each step.

    Raises:
        UsageError: The artifact is not locked, or the target is no folder or file.
        PatchError: An artifact that is to be anonymous has repairs that do not lead to its code.
        FormatError: A file that the manifest names is missing, or a name or link is one that
            no archive may hold; carries every problem.
        CorruptError: ``rra.lock`` is that of other files.
        UnavailableError: A file changes while it is read, or the disk is full.
    """
    from rra.bundle.annotations import creation_time

    place = local_target(target)
    loaded = load_artifact(_directory(artifact))
    problems = gate(loaded, progress=progress)
    if problems:
        return PackReport(artifact=loaded.root, target=target, exit_code=1, problems=problems)
    if anonymous is not None:
        return _anonymously(loaded, place, anonymous, check=check, progress=progress)
    created = creation_time(loaded.root)
    return _bundle(loaded, place, created, check=check, progress=progress)


def _anonymously(
    artifact: Artifact,
    place: LayoutReference | ArchiveReference,
    wanted: Anonymity,
    *,
    check: bool,
    progress: Progress,
) -> PackReport:
    """Make the bundle of an anonymous copy, and the mapping that stays with the author."""
    private = mapping_place(artifact, wanted, place)
    with blanked(artifact, wanted, progress) as done:
        problems = done.problems
        if done.artifact is not None:
            problems = gate(done.artifact, progress=progress)
        if done.artifact is None or problems:
            return PackReport(
                artifact=artifact.root,
                target=str(place),
                anonymous=done.report,
                exit_code=1,
                problems=problems,
            )
        made = _bundle(done.artifact, place, None, check=check, progress=progress)
        report = done.report
        if made.packed is not None:
            digest = made.packed.descriptor.digest
            report = keep_mapping(done, wanted, private, digest)
    warnings = (*made.problems, *done.warnings)
    return dataclasses.replace(made, artifact=artifact.root, anonymous=report, problems=warnings)


def _bundle(
    artifact: Artifact,
    place: LayoutReference | ArchiveReference,
    created: str | None,
    *,
    check: bool,
    progress: Progress,
) -> PackReport:
    """Make the bundle of an artifact that no rule objects to."""
    from rra.bundle.pack import pack_bundle
    from rra.bundle.repack import DifferentError, packed_elsewhere

    with contextlib.ExitStack() as stack:
        second = None
        if check:
            progress("packing a copy of it under other conditions")
            second = stack.enter_context(packed_elsewhere(artifact, created))
        try:
            packed = pack_bundle(
                artifact,
                _writer(place),
                place.tag,
                created=created,
                progress=progress,
                watcher=second,
            )
        except DifferentError as error:
            return PackReport(
                artifact=artifact.root, target=str(place), exit_code=1, problems=error.problems
            )
    named = dataclasses.replace(place, tag=packed.tag, digest=packed.descriptor.digest)
    return PackReport(
        artifact=artifact.root,
        target=str(named),
        packed=packed,
        checked=check,
        problems=(*artifact.warnings, *packed.warnings),
    )


def gate(artifact: Artifact, *, progress: Progress = silent) -> tuple[Problem, ...]:
    """Return what keeps an artifact from being shared: errors of rules, damaged evidence.

    Args:
        artifact: The artifact; it is only read.
        progress: Called with one line for each step.
    """
    from rra.author import expected_guide
    from rra.lint import Severity, lint_artifact

    progress(f"checking {artifact.root} against the rules")
    found = lint_artifact(artifact.root, expected_guide=expected_guide)
    problems = [
        Problem(
            finding.message,
            finding.path,
            finding.line,
            finding.column,
            finding.pointer or "",
            clause=finding.rule,
            hint=finding.hint,
        )
        for finding in found.findings
        if finding.severity is Severity.ERROR
    ]
    return (*problems, *_evidence(artifact))


def _evidence(artifact: Artifact) -> list[Problem]:
    """Return where records do not fit the files beside them."""
    from rra.evidence import EvidenceStore, verify_record

    try:
        stored = EvidenceStore(artifact.root / layout.EVIDENCE_DIR).records()
    except CorruptError as error:
        return [*error.problems] or [Problem(error.message, layout.EVIDENCE_DIR, hint=error.hint)]
    return [problem for one in stored for problem in verify_record(one)]


def local_target(text: str) -> LayoutReference | ArchiveReference:
    """Read the reference of a bundle that is to be made in a folder or file.

    Raises:
        UsageError: It is another kind of reference, or names a digest.
    """
    named = parse_reference(text)
    if isinstance(named, RegistryReference):
        message = f"{text} is a registry"
        raise UsageError(message, hint="make the bundle and send it there with: rra push")
    if isinstance(named, WebReference):
        message = f"{named.url} is an address, where nothing can be put"
        raise UsageError(message, hint="make oci-archive:FILE and upload the file yourself")
    if isinstance(named, DirectoryReference):
        message = f"{text} does not say what is to be made"
        hint = f"give oci-layout:{text} for a folder, or oci-archive:FILE for one file"
        if text.endswith(".tar"):
            hint = f"give oci-archive:{text} for one file, or oci-layout:FOLDER for a folder"
        raise UsageError(message, hint=hint)
    if named.digest is not None:
        message = f"{text} names the digest of a bundle that is still to be made"
        raise UsageError(message, hint="leave the digest out")
    return named


def _directory(artifact: str | Path) -> Path:
    named = parse_reference(str(artifact)) if isinstance(artifact, str) else artifact
    if isinstance(named, BundleReference):
        message = f"{artifact} is a bundle already"
        raise UsageError(message, hint="send it on with: rra copy")
    return named.path if isinstance(named, DirectoryReference) else named


def _writer(place: LayoutReference | ArchiveReference) -> BundleWriter:
    from rra.bundle.archive import ArchiveStore
    from rra.bundle.layout import LayoutStore

    if isinstance(place, LayoutReference):
        return LayoutStore(place.path)
    return ArchiveStore(place.path)
