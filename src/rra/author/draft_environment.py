"""Which kind of environment a repository needs, and what a draft says of it.

Python 3 is locked as wheels. What no kind of ours installs from wheels is not drafted as if it
were: R and Julia are built inside containers, MATLAB is on the machine or is not, and Python 2 is
driven by no tool that installs wheels today.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from packaging.version import Version

from rra.author.draft_launchers import DraftLauncher
from rra.author.main_language import main_language
from rra.environment.interpreter import PYTHON_2
from rra.environment.kinds import JULIA, Description, find_kind
from rra.model import Environment
from rra.scan import Scan

ENVIRONMENT = "cpu"
"""Id of the drafted environment."""

CONTAINERFILE = f"environment/{ENVIRONMENT}/Containerfile"
_DEBIAN = {"R": ("r-base-core",), "Julia": ("julia",)}
_PROGRAMS = {"R": "Rscript", "Julia": "julia", "MATLAB": "matlab"}
_STARTS = {
    "rscript": "R",
    "r": "R",
    "julia": "Julia",
    "matlab": "MATLAB",
    **dict.fromkeys(("python", "python2", "python3", "jupyter", "ipython"), "Python"),
}
_SUFFIXES = {".r": "R", ".rmd": "R", ".jl": "Julia", ".m": "MATLAB", ".py": "Python"}
_SHOWN = 12


@dataclasses.dataclass(frozen=True, kw_only=True)
class DraftEnvironment:
    """The environment of a draft, where it is not one of Python wheels.

    Attributes:
        language: What the code is written in: ``R``, ``Julia``, ``MATLAB`` or ``Python 2``.
        kind: Word of the manifest.
        lock: Path of its lock in the artifact; None where the kind has none.
        python: Python that it is for; None where the code needs none.
        program: Program that a launcher must find on PATH.
        debian: Packages of Debian that it starts from.
        comments: What the author has to know, in the order in which it is written down.
        note: The same in one line, for the answer of ``rra init``.
    """

    language: str
    kind: str
    lock: str | None
    python: str | None
    program: str
    debian: tuple[str, ...]
    comments: tuple[str, ...]
    note: str


def draft_environment(
    scan: Scan, launchers: Sequence[DraftLauncher], *, prefix: str
) -> DraftEnvironment | None:
    """Return the environment of code that wheels do not make run; None for Python 3.

    Args:
        scan: The scan of the repository.
        launchers: The drafted launchers: what they start decides before what there is most of.
        prefix: Where the repository lies in the artifact: empty, or ``code/``.
    """
    language = _language(scan, launchers)
    if language == "Python":
        return _python_2(scan)
    if language == "MATLAB":
        return _matlab()
    return _in_container(language, scan, prefix)


def _language(scan: Scan, launchers: Sequence[DraftLauncher]) -> str:
    started = [_started(launcher) for launcher in launchers if not launcher.missing]
    known = [name for name in started if name]
    if known:
        return max(dict.fromkeys(known), key=known.count)
    return main_language(scan)


def _started(launcher: DraftLauncher) -> str:
    """Return the language of what a launcher starts; empty where that is a shell or unknown."""
    for step in reversed(launcher.steps):
        word = step.argv[0] if step.argv and isinstance(step.argv[0], str) else ""
        program = PurePosixPath(re.sub(r"[\d.]+$", "", word)).name.lower()
        if program in _STARTS:
            return _STARTS[program]
    suffixes = [path.suffix.lower() for path in reversed(launcher.scripts)]
    return next((_SUFFIXES[suffix] for suffix in suffixes if suffix in _SUFFIXES), "")


def _python_2(scan: Scan) -> DraftEnvironment | None:
    found = scan.traits.python
    if not found.below or Version(found.below) > Version("3.0"):
        return None
    why = found.why[-1] if found.why else f"it runs on no Python from {found.below} on"
    return DraftEnvironment(
        language="Python 2",
        kind="container",
        lock=CONTAINERFILE,
        python="2.7",
        program="python",
        debian=(),
        comments=(
            f"{PYTHON_2}: {why}.",
            (
                "What works: an image that has Python 2.7 and the packages, here; or the code made "
                "to run on Python 3, each change a repair, with kind: pylock."
            ),
        ),
        note=f"{PYTHON_2} ({why}): name an image that has it as base_image or rootfs in rra.yaml, "
        "or make the code run on Python 3 by repairs and set kind: pylock",
    )


def _matlab() -> DraftEnvironment:
    return DraftEnvironment(
        language="MATLAB",
        kind="system",
        lock=None,
        python=None,
        program="matlab",
        debian=(),
        comments=(
            (
                "MATLAB is licensed software that no lock brings: it has to be on the machine. Say "
                "in the guide which release and toolboxes. Where GNU Octave runs the code: kind: "
                "container with system_packages: {debian: [octave]}."
            ),
        ),
        note="the code is MATLAB, which nothing here installs: the environment is what the machine "
        "has",
    )


def _in_container(language: str, scan: Scan, prefix: str) -> DraftEnvironment:
    kind = find_kind("renv") if language == "R" else JULIA
    said = kind.describe(scan.root, Environment(kind="system"))
    lock = next((name for name in said.files if PurePosixPath(name).name == "renv.lock"), None)
    packages = _packages(said)
    hint = f"{language} is built inside containers"
    if lock is not None:
        return DraftEnvironment(
            language=language,
            kind="renv",
            lock=f"{prefix}{lock}",
            python=None,
            program=_PROGRAMS[language],
            debian=(),
            comments=(
                f"{packages}.",
                (
                    f"{hint}: renv.lock says which versions. To run launchers, write a "
                    "Containerfile that installs them (renv::restore()) and set kind: container, "
                    f"lock: {CONTAINERFILE}."
                ),
            ),
            note=f"the code is {language}: the environment is described by {prefix}{lock}, and "
            "launchers run in it once it is a container",
        )
    return DraftEnvironment(
        language=language,
        kind="container",
        lock=CONTAINERFILE,
        python=None,
        program=_PROGRAMS[language],
        debian=_DEBIAN[language],
        comments=(
            f"{packages}.",
            (
                f"{hint}. Say what the image is built on: base_image by digest, or rootfs; add the "
                "packages as system_packages, or write the Containerfile yourself."
            ),
        ),
        note=f"the code is {language}: say in rra.yaml what its container is built on (base_image "
        "by digest, or rootfs)",
    )


def _packages(said: Description) -> str:
    if not said.packages:
        return "no file names the packages"
    more = f" and {len(said.packages) - _SHOWN} more" if len(said.packages) > _SHOWN else ""
    version = f", version {said.version}" if said.version else ""
    return f"{said.files[0]} names{version}: {', '.join(said.packages[:_SHOWN])}{more}"


def environment_readme(drafted: DraftEnvironment) -> str:
    """Return ``environment/<id>/README.md`` of an environment that is not locked as wheels."""
    said = "\n\n".join(drafted.comments)
    return f"""\
# Environment {ENVIRONMENT}

Kind `{drafted.kind}`: {drafted.language}. Launchers need `{drafted.program}` on PATH.

{said}
"""
