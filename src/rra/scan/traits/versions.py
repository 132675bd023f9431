"""The range of Python versions that statements and syntax together leave."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from rra.scan.objects import PythonFile, PythonHint
from rra.scan.traits.objects import PythonRange

_ASIDE = re.compile(r"(?:^|/)(?:tests?|docs?|examples?|setup\.py$|conf\.py$|third_party|vendor)")
_MOST = 6


def python_range(
    python_files: Mapping[PurePosixPath, PythonFile], hints: Iterable[PythonHint]
) -> PythonRange:
    """Return the versions of Python that the code can run on, and why.

    Remarks in documents do not count. Where code for Python 2 stands beside code that needs a
    later Python, the larger part decides.

    Args:
        python_files: Files of the repository.
        hints: What its manifests say.
    """
    lows: list[tuple[Version, str]] = []
    highs: list[tuple[Version, str]] = []
    for path, python in python_files.items():
        if not _ASIDE.search(str(path)):
            for clue in python.traits.versions:
                version = Version(".".join(map(str, clue.version)))
                word = f"{path}:{clue.line} {clue.what}"
                if clue.removed:
                    highs.append((version, f"{word}, gone in {version}"))
                else:
                    lows.append((version, f"{word}, since {version}"))
    for hint in hints:
        for version, upper in _bounds(hint):
            (highs if upper else lows).append((version, f"{hint.source} says {hint.text}"))
    low = max(lows, key=lambda one: one[0], default=None)
    high = min(highs, key=lambda one: one[0], default=None)
    if low and high and low[0] >= high[0]:
        low, high = _larger_part(lows, highs)
    why = [one[1] for one in (low, high) if one is not None]
    return PythonRange(str(low[0]) if low else "", str(high[0]) if high else "", tuple(why[:_MOST]))


def _larger_part(
    lows: list[tuple[Version, str]], highs: list[tuple[Version, str]]
) -> tuple[tuple[Version, str] | None, tuple[Version, str] | None]:
    """Keep the bound that more files stand for, and of the other what agrees with it."""
    old = [one for one in highs if one[0] <= Version("3.0")]
    if len({_file(one) for one in old}) > len({_file(one) for one in lows}):
        return None, min(highs, key=lambda one: one[0])
    low = max(lows, key=lambda one: one[0])
    rest = [one for one in highs if one[0] > low[0]]
    return low, min(rest, key=lambda one: one[0], default=None)


def _file(one: tuple[Version, str]) -> str:
    return one[1].partition(":")[0]


def _bounds(hint: PythonHint) -> Iterator[tuple[Version, bool]]:
    """Yield the bounds of a statement, the upper ones marked."""
    text = hint.text.strip()
    if hint.exact:
        try:
            version = Version(text)
        except InvalidVersion:
            return
        yield Version(f"{version.major}.{version.minor}"), False
        yield Version(f"{version.major}.{version.minor + 1}"), True
        return
    caret = re.fullmatch(r"[\^~](\d+)\.(\d+)(?:\.\d+)?", text)
    if caret:
        yield Version(f"{caret[1]}.{caret[2]}"), False
        top = f"{int(caret[1]) + 1}.0" if text[0] == "^" else f"{caret[1]}.{int(caret[2]) + 1}"
        yield Version(top), True
        return
    try:
        specifiers = SpecifierSet(text)
    except InvalidSpecifier:
        return
    for one in specifiers:
        try:
            version = Version(one.version.removesuffix(".*"))
        except InvalidVersion:
            continue
        short = Version(f"{version.major}.{version.minor}")
        if one.operator in {">=", "~=", "==", ">"}:
            yield short, False
        if one.operator == "<":
            yield short, True
        elif one.operator in {"<=", "=="}:
            yield Version(f"{version.major}.{version.minor + 1}"), True
