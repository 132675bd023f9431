"""What a run left: made safe to keep, collected from the code, compared with what was promised."""

from __future__ import annotations

import dataclasses
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base.deep import WHY_TOO_DEEP, cut_deep
from rra._base.files import remove_tree, safe_join
from rra.errors import UnsafePathError
from rra.evidence import printable
from rra.launch.inventory import TreeChanges, regular_files
from rra.launch.place import link_or_copy
from rra.model import Launcher, OutputSpec

STREAMS = ("stdout.txt", "stderr.txt")
"""Files of the output directory that hold what a run printed."""


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in the outputs that is not kept, and why."""

    path: str
    why: str


def take_over(outputs: Path, target: Path) -> list[LeftOut]:
    """Move the output directory out of the launcher's reach.

    When it is no directory of its own any more (removed, or a link put in its place or above
    it), the target is an empty one, and what the link leads to is not touched.
    """
    if os.path.realpath(outputs) == str(outputs) and outputs.is_dir():
        outputs.chmod(stat.S_IMODE(outputs.stat().st_mode) | stat.S_IRWXU)
        outputs.rename(target)
        return []
    target.mkdir()
    return [LeftOut(".", "the output directory itself was removed or replaced")]


def make_safe(outputs: Path, code: Path, *, place: Path) -> list[LeftOut]:
    """Leave only regular files in the outputs, and return what was taken out.

    A link to a file of the outputs or of the copy of the code becomes that file. Other links,
    pipes, sockets and devices go: who looks at the evidence later must not be led elsewhere. What
    lies deeper than a path can name goes, too.

    Args:
        outputs: The outputs, taken over.
        code: The private copy of the code.
        place: Where the outputs were during the run, which links still name.
    """
    deep = [LeftOut(printable(path), WHY_TOO_DEEP) for path in cut_deep(outputs)]
    return [*deep, *_clean(_Kept(outputs, code, place), PurePosixPath())]


@dataclasses.dataclass(frozen=True, slots=True)
class _Kept:
    """Folders whose files may be kept; none is a link, so a path in them leads nowhere else."""

    outputs: Path
    code: Path
    place: Path

    def original(self, link: Path) -> Path | None:
        """Return the file that a link stands for, if it is one that may be kept."""
        named = os.path.normpath(link.parent / link.readlink())
        target = Path(named)
        if target.is_relative_to(self.place):
            target = self.outputs / target.relative_to(self.place)
        real = Path(os.path.realpath(target))
        inside = any(real.is_relative_to(root) for root in (self.outputs, self.code))
        return real if inside else None


def _clean(kept: _Kept, inside: PurePosixPath) -> Iterator[LeftOut]:
    folder = kept.outputs / inside
    folder.chmod(stat.S_IMODE(folder.lstat().st_mode) | stat.S_IRWXU)
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - names are enough
        path, mode = folder / name, (folder / name).lstat().st_mode
        if stat.S_ISDIR(mode):
            yield from _clean(kept, inside / name)
        elif stat.S_ISREG(mode):
            path.chmod(stat.S_IMODE(mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR)
        elif why := _not_kept(path, mode, kept):
            path.unlink()
            yield LeftOut(printable(inside / name), why)


def _not_kept(path: Path, mode: int, kept: _Kept) -> str:
    if not stat.S_ISLNK(mode):
        return "neither a file nor a folder"
    target = kept.original(path)
    if target is None:
        return f"a link to {printable(path.readlink())}, outside what is kept"
    if not target.is_file():
        return "a link to something that is not a file"
    path.unlink()
    link_or_copy(target, path)
    return ""


def _remove(path: Path) -> None:
    if path.is_symlink() or path.exists():
        remove_tree(path)


def limit_size(outputs: Path, limit: int) -> list[LeftOut]:
    """Take out the largest files until the rest is within a limit in bytes."""
    sizes = {path: status.st_size for path, status in regular_files(outputs)}
    total = sum(sizes.values())
    left_out = []
    for path in sorted(sizes, key=lambda path: sizes[path], reverse=True):
        if total <= limit:
            break
        (outputs / path).unlink()
        total -= sizes[path]
        why = f"{sizes[path]} bytes, more than the limit of {limit} for all outputs"
        left_out.append(LeftOut(printable(path), why))
    return left_out


def add_streams(record: Path, outputs: Path) -> None:
    """Put what was printed beside what was written.

    Args:
        record: Folder with both streams.
        outputs: The outputs, already safe.
    """
    for name in STREAMS:
        _remove(outputs / name)
        link_or_copy(record / name, outputs / name)


def used_bytes(folder: Path) -> int:
    """Return the size of all files below a folder that others may be changing."""
    total, pending = 0, [str(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                found = list(entries)
        except OSError:
            continue  # gone, or too deep for a path
        for entry in found:
            try:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
            except OSError:
                continue  # gone since the folder was listed
    return total


def collect(
    table: Mapping[str, str], changes: TreeChanges, code: Path, outputs: Path
) -> list[tuple[PurePosixPath, PurePosixPath]]:
    """Put what the run wrote into its copy of the code where the launcher's table says.

    A pattern that names a file gives the place of that file; one with wildcards, or that names
    a folder, gives a folder, in which paths are kept from the first wildcard on. ``**`` stands
    for any number of folders. Files that the run did not write are never taken.

    Args:
        table: Pattern in the code → place in the outputs.
        changes: What the run did to the code.
        code: The copy of the code.
        outputs: The output directory, already safe.

    Returns:
        Pairs of path in the code and path in the outputs.
    """
    taken = []
    for pattern, place in table.items():
        expression, base = _compile(pattern)
        for path in changes.written:
            if expression.fullmatch(str(path)) is None:
                continue
            exact = str(path) == pattern and not place.endswith("/")
            rest = path.relative_to(base) if path != base else PurePosixPath(path.name)
            destination = PurePosixPath(place) if exact else PurePosixPath(place) / rest
            if _put(code / path, outputs, destination):
                taken.append((path, destination))
    return taken


def _put(source: Path, outputs: Path, place: PurePosixPath) -> bool:
    try:
        destination = safe_join(outputs, place)
    except UnsafePathError:
        return False
    destination.parent.mkdir(parents=True, exist_ok=True)
    _remove(destination)
    link_or_copy(source, destination)
    destination.chmod(destination.stat().st_mode | stat.S_IRUSR | stat.S_IWUSR)
    return True


def _compile(pattern: str) -> tuple[re.Pattern[str], PurePosixPath]:
    """Return a pattern as an expression, and its leading parts without wildcards."""
    parts = PurePosixPath(pattern).parts
    fixed = next((i for i, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    named = parts
    while named[1:] and named[-1] == "**":
        named = named[:-1]
    pieces = [
        ".+"
        if index == len(named) - 1 and part == "**"
        else "(?:[^/]+/)*"
        if part == "**"
        else _segment(part) + ("/" if index < len(named) - 1 else "")
        for index, part in enumerate(named)
    ]
    # What names a folder stands for everything in it, so that a `**` at the end adds nothing.
    return re.compile(f"{''.join(pieces)}(?:/.*)?", re.DOTALL), PurePosixPath(*parts[:fixed])


def _segment(part: str) -> str:
    pieces = re.split(r"(\*|\?|\[!?[^\]]+\])", part)
    wild = {"*": "[^/]*", "?": "[^/]", "": ""}
    return "".join(
        wild.get(piece) or (_class(piece) if index % 2 else re.escape(piece))
        for index, piece in enumerate(pieces)
    )


def _class(piece: str) -> str:
    """Return a set of characters: a range that falls holds nothing, a hyphen at an end itself."""
    negated = piece.startswith("[!") and len(piece) > len("[!]")
    rest = piece[2:-1] if negated else piece[1:-1]
    inner = ""
    while rest:
        first, hyphen, last = rest[0], rest[1:2], rest[2:3]
        if hyphen == "-" and last:
            inner += f"{re.escape(first)}-{re.escape(last)}" if first <= last else ""
            rest = rest[3:]
        else:
            inner += re.escape(first)
            rest = rest[1:]
    if negated:
        return f"[^/{inner}]"
    return f"(?!/)[{inner}]" if inner else "(?!)"


def is_output(launcher: Launcher, name: str, *, folder: bool = False) -> bool:
    """Tell whether a run of a launcher may leave a file of this name in its outputs.

    Args:
        launcher: Its `outputs` and `collect` say so; a folder stands for everything in it.
        name: Path inside the output directory.
        folder: Whether it may be a folder in which such files lie.
    """
    path = PurePosixPath(name)
    entry = PurePosixPath(launcher.entry)
    if str(path) in STREAMS or (entry.suffix == ".ipynb" and str(path) == entry.name):
        return True
    outputs = [PurePosixPath(spec.name) for spec in launcher.output_specs]
    places = [PurePosixPath(place) for place in launcher.collect.values()]
    if not path.parts:
        return folder and bool(outputs or places)
    if folder:
        if any(place != path and place.is_relative_to(path) for place in places):
            return True
        outputs += [above for one in outputs for above in list(one.parents)[:-1]]
    if any(_compile(str(one))[0].fullmatch(str(path)) for one in outputs):
        return True
    return any(_may_become(path, *item) for item in launcher.collect.items())


def _may_become(path: PurePosixPath, pattern: str, place: str) -> bool:
    """Tell whether `collect` may put a file of the code at this place in the outputs."""
    target = PurePosixPath(place)
    if target.parts and path.is_relative_to(target):
        return True
    if target.parts:
        return False
    expression, base = _compile(pattern)
    if base == PurePosixPath(pattern):
        # It names a file when its last part has an ending: as far as names tell.
        return str(path) == base.name if "." in base.name[1:-1] else True
    return expression.fullmatch(str(base / path)) is not None


def missing_outputs(launcher: Launcher, outputs: Path) -> list[str]:
    """Return the required outputs that are not there; a folder counts when it holds a file."""
    names = [str(path) for path, _ in regular_files(outputs)]
    missing = []
    for spec in launcher.output_specs:
        expression, _ = _compile(spec.name)
        if spec.required and not any(expression.fullmatch(name) for name in names):
            missing.append(spec.name)
    return missing


def too_large(launcher: Launcher, outputs: Path) -> list[tuple[OutputSpec, int]]:
    """Return the outputs that are larger than their declared ``max_bytes``, with their sizes."""
    found = []
    for spec in launcher.output_specs:
        path = outputs / spec.name
        if spec.max_bytes is not None and path.is_file() and path.stat().st_size > spec.max_bytes:
            found.append((spec, path.stat().st_size))
    return found


def untouched(name: str, launcher: Launcher, outputs: Path, code: Path) -> str:
    """Say that a missing output lies in the code but was not written by this run, if it does."""
    places = [pattern for pattern, place in launcher.collect.items() if place == name]
    for pattern in (*places, name):
        if (code / pattern).is_file() and not (outputs / name).exists():
            return f"{pattern} is in the code, but this run did not write it"
    return ""
