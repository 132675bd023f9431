"""What an environment of an artifact needs, and who says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from rra.artifact import Artifact, layout


@dataclasses.dataclass(frozen=True, kw_only=True)
class Needed:
    """What an environment needs, where that is said, and what is unclear about it.

    Attributes:
        manifest: The file that says it.
        places: Where each package is asked for.
        digests: SHA-256 that the files of each package may have, where the file says so.
    """

    requirements: tuple[str, ...]
    origin: str
    findings: tuple[str, ...] = ()
    manifest: str = layout.MANIFEST
    places: Mapping[str, str] = dataclasses.field(default_factory=dict)
    digests: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether a package is needed, or may be."""
        return bool(self.requirements or self.findings)


def needed_packages(artifact: Artifact, name: str) -> Needed:
    """Find out what an environment needs: what the manifest says, else what the code shows."""
    from rra.environment import detect_requirements
    from rra.scan import third_party_imports
    from rra.scan.imports import optional_modules

    stated = artifact.manifest.environments[name].requirements
    if stated is not None:
        return Needed(requirements=tuple(stated), origin="rra.yaml")
    files = artifact.code_files()
    optional = optional_modules(artifact.code_root, files)
    every = third_party_imports(artifact.code_root, files)
    found = detect_requirements(artifact.code_root, [one for one in every if one not in optional])
    return Needed(
        requirements=tuple(found.requirements),
        origin=found.why,
        findings=tuple(str(finding) for finding in found.findings),
        manifest=found.manifest,
        places=found.places,
        digests=found.digests,
    )
