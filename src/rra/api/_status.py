"""``rra status``: how a bundle stands, by what others attached to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._open import open_bundle
from rra.api._result import Progress, VerbResult, silent
from rra.api._statements import read_policy, standing_of
from rra.api._unpack import bundle_reference

if TYPE_CHECKING:
    from rra.report.standing import Standing


@dataclasses.dataclass(frozen=True, kw_only=True)
class StatusReport(VerbResult):
    """How a bundle stands for one reader; the answer is no when a requirement is not met.

    Attributes:
        reference: The bundle, with its digest.
        digest: Digest of its manifest.
        name: Name of the artifact.
        version: Its version.
        core: Its core.
        standing: What the statements come to.
        policy: The reader's policy file; None without one.
    """

    reference: str
    digest: str
    name: str
    version: str
    core: str
    standing: Standing
    policy: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        from rra.registry.statements import AUTHORS
        from rra.report import standing as views

        standing = self.standing
        return {
            "reference": self.reference,
            "digest": self.digest,
            "name": self.name,
            "version": self.version,
            "core": self.core,
            "policy": self.policy,
            "signatures": [views.statement_json(one) for one in standing.of(AUTHORS)],
            "levels": {
                group: reached.to_json() if reached else None
                for group, reached in standing.levels.items()
            },
            "independent_reproductions": standing.independent,
            "reproductions": [
                views.reproduction_json(standing, one) for one in standing.of("reproduction")
            ],
            "reviews": [views.review_json(one) for one in standing.of("review")],
            "audits": [views.audit_json(one) for one in standing.of("audit")],
            "notices": [views.notice_json(one) for one in standing.of("notice")],
            "set_aside": [views.statement_json(one) for one in standing.set_aside],
            "requirements": [one.to_json() for one in standing.requirements],
        }


def status(
    reference: str,
    *,
    policy: Path | None = None,
    keys: Sequence[Path] = (),
    plain_http: bool = False,
    progress: Progress = silent,
) -> StatusReport:
    """Say how a bundle stands: who signed it, who reproduced, reviewed and audited it, notices.

    Only manifest, config and statements are read. Statements count when their signature is
    valid and the reader trusts the signer with them; all others are shown apart.

    Args:
        reference: The bundle.
        policy: The reader's policy file.
        keys: Public keys to trust with everything, in place of a policy.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such bundle, or a file cannot be read.
        FormatError: The policy or a key is not one.
        CorruptError: A document is not what vouches for it.
        RegistryError: The registry does not answer.
        UnavailableError: There are more statements than can be read.
    """
    trusted = read_policy(policy, keys)
    named = bundle_reference(reference)
    progress(f"reading {reference}")
    store, bundle = open_bundle(named, progress=progress, plain_http=plain_http, ask=False)
    standing = standing_of(store, bundle, trusted)
    manifest = bundle.config.artifact_manifest()
    return StatusReport(
        reference=str(dataclasses.replace(named, digest=bundle.descriptor.digest)),
        digest=bundle.descriptor.digest,
        name=manifest.name,
        version=manifest.version,
        core=bundle.config.core,
        standing=standing,
        policy=str(policy) if policy is not None else None,
        exit_code=0 if standing.met else 1,
    )
