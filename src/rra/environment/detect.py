"""Finding out which packages a repository needs, without running anything of it."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from rra.environment.lockfiles import LOCK_FILES, LOCK_READERS, LOOSE_FILES
from rra.environment.manifests import (
    read_conda,
    read_pyproject,
    read_setup_cfg,
    read_setup_py,
)
from rra.environment.names import distribution_of_import, is_covered, is_standard
from rra.environment.requirement_files import Requirements, read_requirements
from rra.errors import Problem

_DEPTH = 3
_MINORS = [(3, minor) for minor in range(14, 5, -1)]
_PASSED_OVER = frozenset(
    {".git", ".hg", ".venv", "venv", "env", "node_modules", "site-packages", "__pycache__"}
    | {".tox", ".nox", ".eggs", "build", "dist", "evidence", "outputs", "third_party", "vendor"}
)
_SIDE = re.compile(r"(dev|test|doc|lint|ci|build|optional|extra|example|binder)", re.IGNORECASE)

_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    *LOCK_FILES,
    (re.compile(r"^requirements\.txt$"), "requirements"),
    (re.compile(r"^requirements?[^/]*\.(txt|in|pip)$"), "requirements"),
    (re.compile(r"^(environment|conda|env)[^/]*\.ya?ml$"), "conda"),
    *LOOSE_FILES,
    (re.compile(r"^pyproject\.toml$"), "pyproject"),
    (re.compile(r"^setup\.cfg$"), "setup.cfg"),
    (re.compile(r"^setup\.py$"), "setup.py"),
)
_READERS: dict[str, Callable[[Path, str], Requirements]] = {
    **LOCK_READERS,
    "conda": read_conda,
    "pyproject": read_pyproject,
    "setup.cfg": read_setup_cfg,
    "setup.py": read_setup_py,
}


@dataclasses.dataclass(frozen=True, slots=True)
class FoundManifest:
    """A file that names packages: its path in the repository, kind, requirements, Python."""

    path: str
    kind: str
    requirements: tuple[str, ...]
    python: str


@dataclasses.dataclass(frozen=True, slots=True)
class Detected:
    """Which packages a repository needs, and how that is known.

    Attributes:
        manifests: Files that name packages, the one that is followed first.
        requirements: Requirements (PEP 508) to lock.
        python: Python (major.minor) that the repository names or allows; None if it names none.
        why: Which source is followed, and why, in one sentence.
        findings: What could not be taken over, and disagreements, as warnings with places.
        manifest: Path of the file that is followed; empty when no file names packages.
        places: Where each package (normalised name) is asked for, as ``file:line``.
        digests: SHA-256 (64 hex digits) that the files of each package may have, where the file
            that is followed says so.
    """

    manifests: tuple[FoundManifest, ...]
    requirements: list[str]
    python: str | None
    why: str
    findings: tuple[Problem, ...]
    manifest: str = ""
    places: Mapping[str, str] = dataclasses.field(default_factory=dict)
    digests: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


def detect_requirements(root: Path, imports: Iterable[str]) -> Detected:
    """Find the packages that the code under a folder needs.

    The first of these that names a package is followed: a lock of uv, Poetry, PDM, Pipenv,
    pixi or conda-lock and any other ``pylock.toml``, ``requirements.txt``, other
    requirements files, conda's ``environment.yml``, ``pyproject.toml``, ``setup.cfg``,
    ``setup.py``, those nearest to the root first. Where the others disagree is reported.
    Imports that no manifest names are added when the reviewed table knows their
    distribution; an unknown import stays unknown and is reported.

    Args:
        root: Folder of the code.
        imports: Top-level names that the code imports.
    """
    manifests: list[tuple[str, str, Requirements]] = []
    for path, kind in _candidates(root):
        name = path.relative_to(root).as_posix()
        manifests.append((name, kind, _read(path, root, kind, name)))
    findings = [problem for _, _, found in manifests for problem in found.problems]
    naming = [entry for entry in manifests if entry[2].found]
    requirements: list[str] = []
    why = "the imports, since no file names packages"
    if naming:
        name, _, winner = naming[0]
        requirements = _bounded(_unique(winner, findings), winner.constraints)
        why = _why(name, winner, alone=len(naming) == 1)
        for other_name, _, other in naming[1:]:
            findings += _disagreements(name, winner, other_name, other)
    declared = bool(naming)
    requirements += _from_imports(root, imports, requirements, findings, declared=declared)
    python = _python(root, [(name, found) for name, _, found in manifests], findings)
    order = naming + [entry for entry in manifests if not entry[2].found]
    listed = tuple(
        FoundManifest(
            name,
            kind,
            tuple(text for text, _ in found.found),
            found.python,
        )
        for name, kind, found in order
    )
    places: dict[str, str] = {
        canonicalize_name(Requirement(text).name): "import" for text in requirements
    }
    for text, place in reversed(naming[0][2].found if naming else []):
        places[canonicalize_name(Requirement(text).name)] = place
    return Detected(
        listed,
        requirements,
        python,
        why,
        tuple(findings),
        manifest=naming[0][0] if naming else "",
        places=places,
        digests=naming[0][2].hashes if naming else {},
    )


def _why(name: str, winner: Requirements, *, alone: bool) -> str:
    """Say why a file is followed, and how far it fixes the versions."""
    place = "it alone names packages" if alone else "it comes first of the files that name packages"
    pins = [is_pinned(Requirement(text)) for text, _ in winner.found]
    if all(pins):
        extent = "and pins every version"
    elif any(pins):
        extent = f"and pins {sum(pins)} of {len(pins)} versions"
    else:
        extent = "and pins no version"
    return f"{name}: {place}, {extent}"


def is_pinned(requirement: Requirement) -> bool:
    """Tell whether a requirement allows one version only (PEP 440), or one file."""
    return bool(requirement.url) or any(
        clause.operator == "===" or (clause.operator == "==" and not clause.version.endswith(".*"))
        for clause in requirement.specifier
    )


def _candidates(root: Path) -> list[tuple[Path, str]]:
    """Return the files that may name packages, in the order in which they are followed."""
    found: list[tuple[tuple[bool, int, int, str], Path, str]] = []
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        folders[:] = sorted(f for f in folders if f not in _PASSED_OVER and depth < _DEPTH - 1)
        if "pylock.toml" in files and here.parent.name == "environment":
            continue
        for name in files:
            kind_rank = _kind_of(name, here)
            if kind_rank is not None:
                rank, kind = kind_rank
                inside = (here / name).relative_to(root).as_posix()
                key = (bool(_SIDE.search(inside)), depth, rank, inside)
                found.append((key, here / name, kind))
    found.sort(key=lambda entry: entry[0])
    return [(path, kind) for _, path, kind in found]


def _kind_of(name: str, folder: Path) -> tuple[int, str] | None:
    for rank, (pattern, kind) in enumerate(_KINDS):
        if pattern.match(name):
            return rank, kind
    if folder.name == "requirements" and name.endswith(".txt"):
        return 1, "requirements"
    return None


def _read(path: Path, root: Path, kind: str, name: str) -> Requirements:
    if kind == "requirements":
        return read_requirements(path, root)
    return _READERS[kind](path, name)


def _unique(winner: Requirements, findings: list[Problem]) -> list[str]:
    """Return the requirements once each, and report a package that is pinned in two ways."""
    seen: dict[str, tuple[str, str]] = {}
    kept: list[str] = []
    for text, place in winner.found:
        requirement = Requirement(text)
        key = canonicalize_name(requirement.name) + str(requirement.marker or "")
        if key not in seen:
            seen[key] = (text, place)
            kept.append(text)
        elif Requirement(seen[key][0]) != requirement:
            message = f"{text} contradicts {seen[key][0]} ({seen[key][1]}); the first is kept"
            findings.append(_finding(message, place))
    return kept


def _bounded(requirements: list[str], constraints: list[str]) -> list[str]:
    """Add the bounds of constraint files to the requirements that they speak of."""
    bounds = {canonicalize_name(Requirement(c).name): Requirement(c).specifier for c in constraints}
    result = []
    for text in requirements:
        requirement = Requirement(text)
        more = bounds.get(canonicalize_name(requirement.name))
        if more and requirement.url is None:
            requirement.specifier &= more
            result.append(str(requirement))
        else:
            result.append(text)
    return result


def _disagreements(
    winner_name: str, winner: Requirements, other_name: str, other: Requirements
) -> Iterator[Problem]:
    """Report versions that cannot both be right, and packages that only the other names."""
    ours = {canonicalize_name(Requirement(text).name): text for text, _ in winner.found}
    extra = []
    for text, place in other.found:
        name = canonicalize_name(Requirement(text).name)
        if name not in ours:
            extra.append(text)
        elif _contradict(Requirement(ours[name]), Requirement(text)):
            message = f"{text} contradicts {ours[name]} of {winner_name}, which is followed"
            yield _finding(message, place)
    if extra:
        message = f"names packages that {winner_name} does not: {', '.join(extra)}"
        hint = "add those that the results need"
        yield Problem(message, other_name, hint=hint, severity="warning")


def _contradict(one: Requirement, other: Requirement) -> bool:
    """Tell whether a pin of either side is outside what the other allows."""
    pairs = ((one, other), (other, one))
    for pinned, allowed in pairs:
        for clause in pinned.specifier:
            exact = clause.operator == "==" and not clause.version.endswith(".*")
            if exact and not allowed.specifier.contains(clause.version, prereleases=True):
                return True
    return False


def _from_imports(
    root: Path,
    imports: Iterable[str],
    requirements: list[str],
    findings: list[Problem],
    *,
    declared: bool,
) -> list[str]:
    """Return requirements for imports that nothing names yet."""
    named = {canonicalize_name(Requirement(text).name) for text in requirements}
    local = _local_modules(root)
    added: list[str] = []
    unknown: list[str] = []
    for module in sorted({name.split(".")[0] for name in imports}):
        if is_standard(module) or module in local or not module:
            continue
        distribution = distribution_of_import(module)
        if distribution is None:
            if canonicalize_name(module) not in named:
                unknown.append(module)
        elif not is_covered(distribution, named) and distribution not in added:
            added.append(distribution)
    if added and declared:
        message = f"imported but named in no requirement, added: {', '.join(added)}"
        findings.append(_finding(message, "."))
    if unknown:
        message = f"imports whose package is not known: {', '.join(unknown)}"
        hint = "if one is a package, add it to the requirements under the name it installs by"
        findings.append(Problem(message, ".", hint=hint, severity="warning"))
    return added


def _local_modules(root: Path) -> set[str]:
    """Return every name that the repository itself can provide for import."""
    names: set[str] = set()
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in _PASSED_OVER]
        modules = [f for f in files if f.endswith((".py", ".pyx", ".so"))]
        names.update(f.split(".")[0] for f in modules)
        if modules and Path(folder) != root:
            names.update(Path(folder).relative_to(root).parts)
    return names


def _python(
    root: Path, manifests: list[tuple[str, Requirements]], findings: list[Problem]
) -> str | None:
    """Return the Python that files name, and report when they disagree."""
    named: list[tuple[str, str]] = []
    for name in (".python-version", "runtime.txt"):
        path = root / name
        text = path.read_text("utf-8", "replace").strip() if path.is_file() else ""
        match = re.match(r"(?:python-)?(\d+\.\d+)", text)
        if match:
            named.append((name, match[1]))
    named += [(name, found.python) for name, found in manifests if found.python]
    exact = [(name, text) for name, text in named if re.fullmatch(r"\d+\.\d+", text)]
    if exact:
        for name, text in exact[1:]:
            if text != exact[0][1]:
                message = f"names Python {text}; {exact[0][0]} names {exact[0][1]}, followed"
                findings.append(_finding(message, name))
        return exact[0][1]
    bounds = [text for _, text in named]
    return _newest_allowed(bounds) if bounds else None


def _newest_allowed(bounds: list[str]) -> str | None:
    """Return our own Python where it is allowed, else the newest that is."""
    try:
        allowed = SpecifierSet(",".join(bounds))
    except InvalidSpecifier:
        return None
    for major, minor in [sys.version_info[:2], *_MINORS]:
        if any(allowed.contains(f"{major}.{minor}.{patch}") for patch in (0, 99)):
            return f"{major}.{minor}"
    return None


def _finding(message: str, place: str) -> Problem:
    path, _, line = place.rpartition(":")
    if not path or not line.isdigit():
        return Problem(message, place, severity="warning")
    return Problem(message, path, int(line), severity="warning")
