"""``rra push``: an artifact or a bundle goes to a registry."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

from rra.api._copy import CopyReport, copy_bundle, registry_reference, target_reference
from rra.api._pack import PackReport, pack
from rra.api._result import Progress, VerbResult, silent
from rra.bundle.reference import DirectoryReference, LayoutReference, parse_reference


@dataclasses.dataclass(frozen=True, kw_only=True)
class PushReport(VerbResult):
    """A bundle in a registry; the answer is no, and nothing was sent, when a rule objects.

    Attributes:
        source: What was pushed: a directory, or a bundle with its digest.
        target: Reference of the bundle, with its digest once it is there.
        pushed: What was sent; None when a rule objects.
    """

    source: str
    target: str
    pushed: CopyReport | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        document = self.pushed.to_json() if self.pushed is not None else {}
        return document | {
            "source": self.source,
            "target": self.target,
            "pushed": self.pushed is not None,
        }


def push(
    source: str, target: str, *, plain_http: bool = False, progress: Progress = silent
) -> PushReport:
    """Send an artifact or a bundle to a registry.

    A directory is checked against the rules and packed first, as `rra.api.pack` does it; nothing
    is sent before all of it is there.

    Args:
        source: Directory of an artifact, or reference of a bundle.
        target: ``HOST[:PORT]/REPOSITORY[:TAG]``; the tag is the version by default.
        plain_http: Speak to a registry without TLS; on this machine that is found out.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or bundle, or the target is no registry.
        FormatError: The artifact cannot be packed; carries every problem.
        CorruptError: Bytes are not what vouches for them.
        LoginError: The registry wants a login, or refuses the one it was given.
        RegistryError: The registry does not answer, refuses, or breaks off.
    """
    from rra.bundle.staging import claimed
    from rra.registry import reach

    target_reference(target)
    place = registry_reference(target, "rra push", "rra pack, rra copy")
    named = parse_reference(source)
    if not isinstance(named, DirectoryReference):
        sent = copy_bundle(named, place, plain_http=plain_http, progress=progress)
        return PushReport(source=sent.source, target=sent.target, pushed=sent)
    reach(place, plain_http=plain_http)
    temporary = Path(tempfile.gettempdir())
    with claimed(temporary, prefix="rra-push-", mode=0o700) as folder:
        made = pack(named.path, f"oci-layout:{folder}/bundle", progress=progress)
        if made.packed is None:
            return _stopped(made, target)
        layout = LayoutReference(folder / "bundle", digest=made.packed.descriptor.digest)
        tagged = dataclasses.replace(place, tag=place.tag or made.packed.tag)
        sent = copy_bundle(layout, tagged, plain_http=plain_http, progress=progress)
    source_name = str(made.artifact)
    sent = dataclasses.replace(sent, source=source_name)
    return PushReport(source=source_name, target=sent.target, pushed=sent, problems=made.problems)


def _stopped(made: PackReport, target: str) -> PushReport:
    return PushReport(
        source=str(made.artifact),
        target=target,
        exit_code=made.exit_code,
        problems=made.problems,
    )
