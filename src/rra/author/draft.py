"""The whole draft of an artifact, before it is written down."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

from rra.author.draft_environment import DraftEnvironment, draft_environment
from rra.author.draft_launchers import DraftLauncher, draft_launchers
from rra.author.draft_outcomes import DraftExperiment, draft_experiments
from rra.author.names import slug, unique
from rra.author.runfiles import RunFiles, read_run_files
from rra.author.source import SourceState
from rra.environment import Detected, detect_requirements, suggest_as_of
from rra.environment.interpreter import has_interpreter
from rra.scan import DataFile, Scan

_OLDEST = (3, 8)


@dataclasses.dataclass(frozen=True)
class DraftData:
    """A file or folder of input data.

    Attributes:
        id: Its id.
        path: Place in the repository.
        readers: Scripts that read it.
        size: Bytes.
    """

    id: str
    path: str
    readers: tuple[PurePosixPath, ...]
    size: int


@dataclasses.dataclass(frozen=True)
class Draft:
    """Everything that the drafted files say.

    Attributes:
        name: Id of the artifact.
        title: Title of the repository, if its README has one.
        nested: Whether the code will lie in ``code/``.
        scan: What the scan found.
        declared: What files of other tools say of how it is run.
        launchers: The runs.
        experiments: The reported results.
        data: Input data.
        python: Version of Python.
        python_why: Why that version.
        detected: Which packages are needed, and how that is known.
        requirements: Requirements that the manifest has to state; empty when files do.
        as_of: Suggested date of resolution and why.
        source: The upstream tree.
        exclude: Patterns of files that are not code.
        other: The environment where it is not one of Python wheels; None where it is.
        notes: What the author should know.
    """

    name: str
    title: str
    nested: bool
    scan: Scan
    declared: RunFiles
    launchers: tuple[DraftLauncher, ...]
    experiments: tuple[DraftExperiment, ...]
    data: tuple[DraftData, ...]
    python: str
    python_why: str
    detected: Detected
    requirements: tuple[str, ...]
    as_of: tuple[str, str]
    source: SourceState | None
    exclude: tuple[str, ...]
    notes: tuple[str, ...]
    other: DraftEnvironment | None = None

    @property
    def code_root(self) -> str:
        """``code``, or ``.`` in place."""
        return "code" if self.nested else "."

    def path(self, inside: PurePosixPath | str) -> str:
        """Return the place in the artifact of a file of the repository."""
        return f"code/{inside}" if self.nested else str(inside)

    def inputs(self, launcher: DraftLauncher) -> list[str]:
        """Return the ids of the data that a launcher reads."""
        behind = set(launcher.behind)
        return [item.id for item in self.data if behind & set(item.readers)]


def make_draft(scan: Scan, *, name: str, nested: bool) -> Draft:
    """Decide what the draft says, from a scan.

    Args:
        scan: The scan of the repository.
        name: Id of the artifact.
        nested: Whether the code will lie in ``code/``.
    """
    declared = read_run_files(scan)
    launchers, notes = draft_launchers(scan, declared.launchers)
    notes = [*declared.notes, *notes]
    experiments, more = draft_experiments(scan, launchers)
    detected = detect_requirements(scan.root, scan.imports)
    python, why = _python(detected, scan, declared.python)
    requirements = _requirements(detected, declared, launchers)
    other = draft_environment(scan, launchers, prefix="code/" if nested else "")
    notes += more
    notes += [other.note] if other else []
    notes += [str(problem) for problem in (*scan.problems, *detected.findings)]
    if not other and not any(manifest.requirements for manifest in detected.manifests):
        notes.append("no file names the packages that are needed; they follow from the imports")
    notes += _waiting(scan, launchers)
    if scan.licence is None:
        notes.append("there is no licence file: nobody may reuse the code until there is one")
    data = _data(scan.data_files, set(scan.files))
    if data and not nested:
        listed = ", ".join(item.path for item in data)
        notes.append(f"declared as input data where it stands: {listed}")
    return Draft(
        name=name,
        title=_title(scan) or declared.title[:200],
        declared=declared,
        nested=nested,
        scan=scan,
        launchers=tuple(launchers),
        experiments=tuple(experiments),
        data=data,
        python=python,
        python_why=why,
        detected=detected,
        requirements=requirements,
        as_of=suggest_as_of(scan.root),
        source=None,
        exclude=(),
        notes=tuple(dict.fromkeys(notes)),
        other=other,
    )


def _requirements(
    detected: Detected, declared: RunFiles, launchers: Sequence[DraftLauncher]
) -> tuple[str, ...]:
    """Return what the manifest has to state beside the code's own files; nothing if they do."""
    named = any(manifest.requirements for manifest in detected.manifests)
    stated = () if named else declared.requirements
    first = {_distribution(text) for text in stated}
    found = [text for text in detected.requirements if _distribution(text) not in first]
    known = {_distribution(text) for text in (*stated, *found)}
    more = sorted({package for launcher in launchers for package in launcher.packages})
    extra = [package for package in more if _distribution(package) not in known]
    return (*stated, *found, *extra) if stated or extra else ()


def _waiting(scan: Scan, launchers: Sequence[DraftLauncher]) -> list[str]:
    """Say which files that are started, or are behind a launcher, wait for somebody to type."""
    started = {entry.path for entry in scan.entry_points}
    started.update(path for launcher in launchers for path in launcher.behind)
    return [
        f"{path}:{line} waits for input, and nobody answers during a run: standard input is "
        "empty; give the answer as an argument, or feed it in the launcher"
        for path in sorted(started)
        if path in scan.python_files
        for line in scan.python_files[path].asks[:1]
    ]


def _distribution(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def _python(detected: Detected, scan: Scan, declared: str | None) -> tuple[str, str]:
    """Choose the Python version: what the repository asks for, if it can be had."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    asked = detected.python or declared or next((h.text for h in scan.python if h.exact), None)
    remarks = "; ".join(f"{hint.source} says {hint.text}" for hint in scan.python[:3])
    if asked is None:
        return running, f"the one that rra runs on{f' ({remarks})' if remarks else ''}"
    minor = ".".join(asked.split(".")[:2])
    parts = tuple(int(part) for part in minor.split(".") if part.isdigit())
    if minor == running or (parts >= _OLDEST and has_interpreter(minor)):
        return minor, remarks or "asked for by the repository"
    return running, f"the one that rra runs on: {asked} is asked for and not installed here"


_HEADING = re.compile(r"^#\s+(.+?)\s*#*$|^(\S.*)\n[=~-]{3,}\s*$", re.MULTILINE)
_PARTS_OF_A_README = frozenset(
    [
        *("abstract", "about", "background", "contents", "dependencies", "description"),
        *("getting started", "how to use", "install", "installation", "introduction", "overview"),
        *("prerequisites", "readme", "readme.md", "requirements", "setup", "summary"),
        *("table of contents", "toc", "usage"),
    ]
)
"""First headings that say nothing of what a repository is."""


def _title(scan: Scan) -> str:
    from rra.scan.text import read_text

    for path in scan.files:
        if len(path.parts) == 1 and path.name.lower().startswith("readme"):
            text = read_text(scan.root / path) or ""
            for heading in _HEADING.finditer(text):
                title = _plain_title(heading[1] or heading[2])[:200]
                if title and title.rstrip(":").casefold() not in _PARTS_OF_A_README:
                    return title
                if title:
                    break  # the file has parts and no title
    return ""


def _plain_title(text: str) -> str:
    """Return a heading without its markup: links, tags, emphasis, code, ``:emoji:``.

    Underscores and stars inside a word are part of the word.
    """
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>]+>|(?<![\w:]):[a-z][a-z0-9_+-]*:(?![\w:])|`+", "", text)
    text = re.sub(r"(?<!\w)(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", text)
    return " ".join(text.split())


def _data(files: tuple[DataFile, ...], everything: set[PurePosixPath]) -> tuple[DraftData, ...]:
    """Declare each file, or the folder where many lie and nothing else does."""
    folders: dict[PurePosixPath, list[DataFile]] = {}
    for file in files:
        folders.setdefault(file.path.parent, []).append(file)
    items: dict[str, DraftData] = {}

    def add(path: PurePosixPath, group: list[DataFile]) -> None:
        readers = tuple(dict.fromkeys(reader for file in group for reader in file.readers))
        name = unique(slug(str(path), otherwise="data"), items)
        items[name] = DraftData(name, str(path), readers, sum(file.size for file in group))

    for folder, group in folders.items():
        inside = {path for path in everything if path.is_relative_to(folder)}
        if folder.parts and len(group) > 5 and inside == {file.path for file in group}:
            add(folder, group)
        else:
            for file in group:
                add(file.path, [file])
    return tuple(items.values())
