"""Which scripts must run before others: by the files that they write and read, and by make."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from rra.errors import Problem
from rra.scan.builds import Makefile
from rra.scan.filenames import placed
from rra.scan.objects import Command, OrderIssue
from rra.scan.runs import Run, RunFile

_MAX_EDGES = 2_000
_MAX_PATTERNS = 500
Reach = Callable[[PurePosixPath], tuple[PurePosixPath, ...]]
Files = dict[str, str]


def find_order(
    runs: Sequence[Run],
    makefiles: Mapping[PurePosixPath, Makefile],
    behind: Reach,
    documented: Sequence[PurePosixPath],
) -> tuple[OrderIssue, ...]:
    """Return pairs of scripts of which one reads what the other writes, with the reason.

    Args:
        runs: Runs of scripts.
        makefiles: Makefiles by path.
        behind: Returns a script and every file that it imports or starts.
        documented: Scripts in the order in which documents give their commands.
    """
    reads: dict[PurePosixPath, Files] = {}
    writes: dict[PurePosixPath, Files] = {}
    for run in runs:
        if run.command is not None and run.script == run.command.source and _is_text(run.script):
            continue
        made, needed = _of_make(run.command, makefiles)
        _note(reads, run.script, run.reads, "reads", needed)
        _note(writes, run.script, run.writes, "writes", made)
    alone = {run.script for run in runs if run.command is not None}

    def related(first: PurePosixPath, then: PurePosixPath) -> bool:
        """Tell whether one runs within the other: started by it, or only imported."""
        inside = then in behind(first) or first in behind(then)
        modules = first.suffix == then.suffix == ".py"
        return first == then or (inside and not (modules and first in alone and then in alone))

    return tuple(_edges(reads, writes, related, _Place(documented, behind)))


def _is_text(path: PurePosixPath) -> bool:
    return path.suffix.lower() in {".md", ".rst", ".txt", ".html", ".htm", ""} and (
        not path.name.lower().endswith("makefile")
    )


def _note(
    into: dict[PurePosixPath, Files],
    script: PurePosixPath,
    files: Iterable[RunFile],
    verb: str,
    of_make: Files,
) -> None:
    known = into.setdefault(script, {})
    for file in files:
        known.setdefault(file.pattern, f"{verb} it at {file.path}:{file.line}")
    for name, why in of_make.items():
        known.setdefault(name, why)


def _of_make(
    command: Command | None, makefiles: Mapping[PurePosixPath, Makefile]
) -> tuple[Files, Files]:
    """Return what the rule around a command makes and needs."""
    makefile = makefiles.get(command.source) if command is not None else None
    if command is None or makefile is None:
        return {}, {}
    targets, needs = makefile.rules.get(command.line, ((), ()))
    found: list[Files] = []
    for names, verb in ((targets, "makes"), (needs, "needs")):
        why = f"its rule {verb} it at {command.source}:{command.line}"
        places = (placed(name, command.source, str(command.source.parent)) for name in names)
        found.append({place: why for place in places if place})
    return found[0], found[1]


class _Place:
    """Where documents first start a script, by itself or through another one."""

    def __init__(self, documented: Sequence[PurePosixPath], behind: Reach) -> None:
        self._first: dict[PurePosixPath, int] = {}
        own = set(documented)
        for number, script in enumerate(documented):
            self._first.setdefault(script, number)
            for path in behind(script) if script.suffix != ".py" else ():
                if path not in own:
                    self._first.setdefault(path, number)

    def wrong(self, first: PurePosixPath, then: PurePosixPath) -> bool:
        """Tell whether documents start the second of two scripts before the first."""
        known = first in self._first and then in self._first
        return known and self._first[then] < self._first[first]


def _edges(
    reads: Mapping[PurePosixPath, Files],
    writes: Mapping[PurePosixPath, Files],
    related: Callable[[PurePosixPath, PurePosixPath], bool],
    place: _Place,
) -> Iterator[OrderIssue]:
    makers: dict[str, list[PurePosixPath]] = {}
    for script, files in writes.items():
        for name in files:
            makers.setdefault(name, []).append(script)
    names = WrittenNames(makers)
    number = 0
    for then, needed in reads.items():
        done: set[PurePosixPath] = set()
        own = set(writes.get(then, ()))
        for name, why in sorted(needed.items()):
            if name in own:
                continue
            pairs = [(other, s) for other in names.meeting(name) for s in makers[other]]
            for written, first in pairs:
                if first in done or written in own or number >= _MAX_EDGES:
                    continue
                if related(first, then):
                    continue
                done.add(first)
                number += 1
                file = written if "*" in name else name
                reason = f"{first} {writes[first][written]}; {then} {why}"
                yield OrderIssue(first, then, file, place.wrong(first, then), reason)


class WrittenNames:
    """Names that are written, so that those which a name that is read may mean are found fast."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = dict.fromkeys(names)
        self._plain = [name for name in self._names if "*" not in name]
        loose = [name for name in self._names if "*" in name][:_MAX_PATTERNS]
        self._patterns = [(name, re.compile(fnmatch.translate(name))) for name in loose]
        self._folders: dict[str, list[str]] = {}
        for name in self._names:
            for parent in PurePosixPath(name).parents:
                self._folders.setdefault(str(parent), []).append(name)

    def meeting(self, read: str) -> list[str]:
        """Return the written names that a name which is read may mean.

        The same name, a pattern that it fits, a name that fits it, files in the folder that it
        is, and what it is a step of: ``model.ckpt-60000`` of ``model.ckpt``.

        Args:
            read: Name or pattern that is read.
        """
        stem = re.sub(r"[-.]\d+$", "", read)
        found = [name for name in (read, stem) if name in self._names]
        if "*" in read:
            fits = re.compile(fnmatch.translate(read))
            found += [name for name in self._plain if fits.match(name)][:_MAX_PATTERNS]
        else:
            tested = {read, stem}
            found += [name for name, fits in self._patterns if any(map(fits.match, tested))]
        if "." not in read.rpartition("/")[2] and "*" not in read:
            found += self._folders.get(read.rstrip("/"), [])[:_MAX_PATTERNS]
        return list(dict.fromkeys(found))


def cycles(issues: Iterable[OrderIssue]) -> tuple[tuple[PurePosixPath, ...], ...]:
    """Return groups of scripts each of which needs a file of the next, and so of itself."""
    following: dict[PurePosixPath, list[PurePosixPath]] = {}
    for issue in issues:
        following.setdefault(issue.first, []).append(issue.then)
    reached = {script: _reached(script, following) for script in following}
    groups: dict[frozenset[PurePosixPath], None] = {}
    for script, others in reached.items():
        if script in others:
            both = {one for one in others if script in reached.get(one, ())}
            groups[frozenset(both)] = None
    return tuple(tuple(sorted(group)) for group in groups)


def _reached(
    start: PurePosixPath, following: Mapping[PurePosixPath, list[PurePosixPath]]
) -> set[PurePosixPath]:
    found: set[PurePosixPath] = set()
    pending = list(following.get(start, ()))
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += following.get(one, ())
    return found


def order_problems(issues: Sequence[OrderIssue]) -> Iterator[Problem]:
    """Yield documents that give scripts in the wrong order, and scripts that need each other.

    Args:
        issues: Pairs of scripts.
    """
    for issue in issues:
        if issue.documented_wrong:
            message = (
                f"{issue.then} reads {issue.file}, which {issue.first} writes, "
                "but the documents give them in the other order"
            )
            yield _warning(message, issue.then)
    for group in cycles(issues):
        inside = [i for i in issues if i.first in group and i.then in group]
        shown = "; ".join(f"{i.then} reads {i.file} of {i.first}" for i in inside[:4])
        message = f"need files of each other, so no order is right at the first run: {shown}"
        yield _warning(message, group[0])


def _warning(message: str, path: PurePosixPath) -> Problem:
    return Problem(message, str(path), clause="scan/order", severity="warning")
