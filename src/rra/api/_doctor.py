"""``rra doctor``: what this machine can isolate, record and build, found by trying it."""

from __future__ import annotations

import dataclasses
from typing import Any

from rra.api._result import Progress, VerbResult, silent

_INSTALL = {
    "bwrap": "apt-get install bubblewrap",
    "apptainer": "where bubblewrap cannot be had, ask whoever runs the cluster for apptainer",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Capability:
    """One thing that this machine can or cannot do, and why.

    Attributes:
        needed_for: What is weaker without it.
        install: How to get it, when it is missing.
    """

    name: str
    works: bool
    detail: str
    needed_for: str
    install: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DoctorResult(VerbResult):
    """All capabilities that were tried."""

    capabilities: tuple[Capability, ...]
    platform: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "capabilities": [dataclasses.asdict(one) for one in self.capabilities],
            "platform": self.platform,
        }


def doctor(*, progress: Progress = silent) -> DoctorResult:
    """Try sandboxes, recorder and tools for real and say what works.

    Nothing that is missing is an error: weaker isolation and records are said in each record.
    Only a missing git or uv makes the answer no.
    """
    from rra._base import process
    from rra.environment import platform_facts

    found = _isolation(progress)
    git = process.find_tool("git")
    found.append(
        Capability(
            name="git",
            works=git is not None,
            detail=str(git or "not on PATH"),
            needed_for="repairs and the trees of repositories",
            install="apt-get install git",
        )
    )
    uv = _try_uv()
    found.append(
        Capability(
            name="uv",
            works=bool(uv),
            detail=uv or "does not run",
            needed_for="locking and building environments",
            install="pip install uv",
        )
    )
    essential = [one for one in found if one.name in {"git", "uv"}]
    return DoctorResult(
        capabilities=tuple(found),
        platform=platform_facts(),
        exit_code=0 if all(one.works for one in essential) else 3,
    )


def _isolation(progress: Progress) -> list[Capability]:
    """Try what isolates, limits and watches a launcher."""
    from rra.launch import probe_recorder
    from rra.sandbox import probe, try_engine, try_groups

    found: list[Capability] = []
    for one in probe():
        progress(f"trying sandbox {one.name}")
        found.append(
            Capability(
                name=f"sandbox {one.name}",
                works=one.works,
                detail=one.why,
                needed_for="runs that can reach neither the network nor other files",
                install=_INSTALL.get(one.name, ""),
            )
        )
    progress("asking podman and docker")
    engine = try_engine()
    found.append(
        Capability(
            name="sandbox container",
            works=engine.works,
            detail=engine.why,
            needed_for="environments of kind container: building images and running in them",
            install="apt-get install podman",
        )
    )
    progress("trying control groups")
    groups = try_groups()
    found.append(
        Capability(
            name="limits",
            works=groups.works,
            detail=groups.why,
            needed_for="runs that are held to their memory, processes and processors",
            install="run as root, or where your session has control groups of its own",
        )
    )
    progress("trying strace")
    recorder = probe_recorder()
    found.append(
        Capability(
            name="recorder strace",
            works=recorder.works,
            detail=recorder.why,
            needed_for="records of every file read and every write elsewhere",
            install="apt-get install strace",
        )
    )
    return found


def _try_uv() -> str:
    """Return the version of uv, or nothing when it does not run."""
    from rra._base import process
    from rra.environment.uvtool import find_uv
    from rra.errors import ToolMissingError

    try:
        done = process.run([find_uv(), "--version"])
    except ToolMissingError:
        return ""
    return done.stdout.strip() if done.ok else ""
