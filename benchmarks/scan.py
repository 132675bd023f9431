"""How much of a repository `rra scan` finds, and how much of what it says is right.

``python benchmarks/scan.py`` unpacks small repositories, scans them, and compares what it finds
with labels that people wrote by reading. ``--real DIR`` takes a folder of clones, ``owner+name``.
Precision is the share of what was found that the labels have, recall the share of the labels that
was found; see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import look_alikes
import rra
import scan_fields
from rra.scan import scan_repository
from rra.scan.document import scan_document

REPOSITORIES = Path(__file__).resolve().parent / "scan_repositories"
_SMALL = ("blind5", "blind4", "blind3", "blind2", "blind", "ours")
#: Fields of which only those parts are compared that the labels name.
_OF_LABELLED = {
    "parameters": 1,
    "parameter types": 2,
    "parameter defaults": 2,
    "parameter choices": 2,
    "command scripts": 1,
    "command kinds": 1,
    "distributions": 1,
}


@dataclasses.dataclass
class Tally:
    """Counts for one field.

    Attributes:
        labels: What the labels say.
        found: What was found.
        right: What both say.
        misses: Lines that name what only one of them says.
    """

    labels: int = 0
    found: int = 0
    right: int = 0
    misses: list[str] = dataclasses.field(default_factory=list)

    def add(self, name: str, labels: set[tuple[str, ...]], found: set[tuple[str, ...]]) -> None:
        """Count one repository."""
        self.labels += len(labels)
        self.found += len(found)
        self.right += len(labels & found)
        self.misses += [f"- {name}: {' | '.join(miss)}" for miss in sorted(labels - found)]
        self.misses += [f"+ {name}: {' | '.join(extra)}" for extra in sorted(found - labels)]

    @property
    def precision(self) -> float | None:
        """Share of what was found that is right, or None where nothing was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of the labels that was found, or None where there is no label."""
        return self.right / self.labels if self.labels else None


@dataclasses.dataclass
class Part:
    """What was counted for one part of the repositories.

    Attributes:
        name: Its name.
        repositories: How many were scanned.
        absent: Names of those that are not there.
        fields: Counts by field.
    """

    name: str
    repositories: int = 0
    absent: list[str] = dataclasses.field(default_factory=list)
    fields: dict[str, Tally] = dataclasses.field(default_factory=dict)

    def add(self, name: str, labels: Mapping[str, Any], document: Mapping[str, Any]) -> None:
        """Compare one repository with its labels."""
        self.repositories += 1
        answers = scan_fields.found(document)
        for field, expected in scan_fields.labelled(labels).items():
            tally = self.fields.setdefault(field, Tally())
            tally.add(name, expected, _comparable(field, expected, answers.get(field, set())))


def _comparable(
    field: str, labels: set[tuple[str, ...]], found: set[tuple[str, ...]]
) -> set[tuple[str, ...]]:
    """Leave out what the labels do not speak of, so that one fault counts once."""
    if field not in _OF_LABELLED:
        return found
    width = _OF_LABELLED[field]
    named = {label[:width] for label in labels}
    return {entry for entry in found if entry[:width] in named}


def main(argv: Sequence[str] | None = None) -> int:
    """Scan, compare, and print a table for each part."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--real", type=Path, metavar="DIR", help="folder of clones, owner+name")
    parser.add_argument("--misses", action="store_true", help="list what is missing and wrong")
    parser.add_argument("--labels", type=Path, default=REPOSITORIES, help="folder of the parts")
    parser.add_argument("--only", default="", metavar="TEXT", help="repositories with TEXT in name")
    options = parser.parse_args(argv)
    parts = [small_part(options.labels / name, options.only) for name in _SMALL]
    parts.append(real_part(options.labels / "real", options.real, options.only))
    for part in parts:
        print("\n".join(table(part, misses=options.misses)))
    print(summary(parts))
    return 0


def small_part(folder: Path, only: str = "") -> Part:
    """Scan the small repositories of one part."""
    part = Part(folder.name)
    for labels in sorted(folder.glob("*/labels.yaml")):
        if only in labels.parent.name:
            with tempfile.TemporaryDirectory() as place:
                root = look_alikes.unpack(labels.with_name("repository.txt"), Path(place))
                part.add(labels.parent.name, _read(labels), scan_document(scan_repository(root)))
    return part


def real_part(folder: Path, clones: Path | None, only: str = "") -> Part:
    """Scan the clones that are there; the others are named as absent."""
    part = Part(folder.name)
    for labels in sorted(folder.glob("*.yaml")):
        root = clones / labels.stem if clones else None
        if only not in labels.stem:
            continue
        if root is None or not root.is_dir():
            part.absent.append(labels.stem)
        else:
            part.add(labels.stem, _read(labels), scan_document(scan_repository(root)))
    return part


def _read(labels: Path) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(labels.read_text(encoding="utf-8"))
    return content


def table(part: Part, *, misses: bool) -> Iterator[str]:
    """Return the lines of a part's table, as Markdown."""
    yield f"### {part.name}: {part.repositories} repositories\n"
    if part.absent:
        yield f"absent, left out: {', '.join(part.absent)}\n"
    if part.fields:
        yield "| field | labels | found | precision | recall |\n|---|---|---|---|---|"
    for field, tally in part.fields.items():
        shares = f"{_percent(tally.precision)} | {_percent(tally.recall)}"
        yield f"| {field} | {tally.labels} | {tally.found} | {shares} |"
    yield ""
    for field, tally in part.fields.items():
        if misses and tally.misses:
            yield "\n".join([f"{part.name}: {field}", *(f"  {line}" for line in tally.misses)])


def summary(parts: Iterable[Part]) -> str:
    """Return the last line: the share of documented commands resolved on each part."""
    resolved = []
    for part in parts:
        tally = part.fields.get("command scripts", Tally())
        if tally.labels:
            resolved.append(f"{part.name} {tally.right}/{tally.labels} ({_percent(tally.recall)})")
    return f"rra {rra.__version__}: commands resolved: {', '.join(resolved) or 'none'}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


if __name__ == "__main__":
    sys.exit(main())
