"""The cases of the conformance corpus, as the tests read them."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

from ruamel.yaml import YAML

from tests.support.source import ROOT

CORPUS = ROOT / "schemas" / "conformance" / "v1"
#: Documents in YAML; the others are JSON.
IN_YAML = frozenset({"manifest", "settings", "repairs", "references"})
STAGES = ("yaml", "schema", "semantic", "artifact")


@dataclasses.dataclass(frozen=True)
class Case:
    """One folder of the corpus: its document, and what has to be said of it.

    Attributes:
        name: Path of the folder below the corpus.
        document: What the file is; ``artifact`` for a whole folder.
        file: The file.
        stage: Stage that decides.
        clause: Clause that is broken; empty for a valid case.
    """

    name: str
    document: str
    file: Path
    stage: str
    clause: str

    @property
    def refused_at(self) -> str:
        """The stage that refuses it when only yaml and schema are asked; else empty."""
        return self.stage if self.clause and self.stage in {"yaml", "schema"} else ""


@functools.cache
def cases() -> tuple[Case, ...]:
    """Return the cases that are one document, in the order of their names."""
    found = []
    for path in sorted(CORPUS.glob("*valid/*/*/expect.yaml")):
        said = YAML(typ="safe", pure=True).load(path)
        if said["document"] == "artifact":
            continue
        folder = path.parent
        name = folder.relative_to(CORPUS).as_posix()
        invalid = said["verdict"] == "invalid"
        clause = said["clause"] if invalid else ""
        found.append(Case(name, said["document"], folder / said["file"], said["stage"], clause))
    return tuple(found)
