"""check-jsonschema, started as the program that it is: its verdicts on many files at once."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

#: Readers that check-jsonschema chooses by suffix; `rra.lock` and what has none need to be told.
OPTIONS = ("--output-format", "json", "--no-cache", "--default-filetype")


@dataclasses.dataclass(frozen=True)
class Verdicts:
    """Files that are no documents of the schema, and files that could not be read at all.

    Attributes:
        invalid: The places of the faults, as JSON paths, for each file that breaks the schema.
        unreadable: The message for each file that could not be parsed.
    """

    invalid: dict[Path, list[str]]
    unreadable: dict[Path, str]


def check_files(schema: Path, files: Sequence[Path], *, filetype: str = "yaml") -> Verdicts:
    """Return what check-jsonschema says of files; those that it does not name are valid."""
    command = [sys.executable, "-m", "check_jsonschema", *OPTIONS, filetype]
    command += ["--schemafile", str(schema), *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in {0, 1}, run.stderr
    said = json.loads(run.stdout)
    invalid: dict[Path, list[str]] = {}
    for error in said.get("errors", []):
        invalid.setdefault(Path(error["filename"]), []).append(error["path"])
    unreadable = {Path(one["filename"]): one["message"] for one in said.get("parse_errors", [])}
    return Verdicts(invalid, unreadable)
