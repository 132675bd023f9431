"""Secrets of a run: passed by name to the launcher that declares them, and kept out of the rest.

The value of a secret is in no record, no message and no output. What is printed has it replaced by
asterisks of the same length, so that places in the text stay; a file that holds it is no output.
Only the value itself is looked for, not what a program may make of it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from rra._base.streams import BLOCK, StreamInfo
from rra.errors import UsageError
from rra.evidence import printable
from rra.launch.collect import LeftOut
from rra.launch.inventory import regular_files
from rra.launch.trace import Observation
from rra.model import Launcher

CONSENT = "RRA_SECRETS"
"""Variable with names of secrets, with commas between, that any launcher may have."""

_SHORTEST = 6
_ADDRESSES = ("connections", "reached", "refused")
"""Shorter values are not looked for: they would be found everywhere."""


def consented() -> dict[str, str]:
    """Return the secrets that the caller's environment hands to any launcher that declares them."""
    names = [name.strip() for name in os.environ.get(CONSENT, "").split(",")]
    return {name: os.environ[name] for name in names if name in os.environ}


def secrets_of(launcher: Launcher, name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of a run: what its launcher declares and the caller has.

    Args:
        launcher: Its declaration.
        name: Its id.
        given: Values by variable, of which only those that are declared are taken.

    Raises:
        UsageError: One that the launcher cannot do without is missing or empty.
    """
    declared = launcher.secrets or []
    missing = [one for one in declared if not one.optional and not given.get(one.env)]
    if missing:
        wanted = ", ".join(
            one.env + (f" ({one.purpose})" if one.purpose else "") for one in missing
        )
        message = f"launcher {name} needs a secret that is not set: {wanted}"
        names = ",".join(one.env for one in missing)
        hint = (
            f"set the variable and run again; for verify and audit also say {CONSENT}={names}, "
            "since they hand no secret to a stranger's launcher by themselves"
        )
        raise UsageError(message, hint=hint)
    return {one.env: given[one.env] for one in declared if given.get(one.env)}


class Redactor:
    """Takes the values of secrets out of what is kept of a run."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Look for these, by the variables that carry them."""
        self._values = {
            name: os.fsencode(value)
            for name, value in secrets.items()
            if len(os.fsencode(value)) >= _SHORTEST
        }
        self._longest = max(map(len, self._values.values()), default=0)

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._values)

    def text(self, text: str) -> str:
        """Return a text without the values."""
        for value in map(os.fsdecode, self._values.values()):
            text = text.replace(value, "*" * len(value))
        return text

    def listener(self, listener: Callable[[str], None] | None) -> Callable[[str], None] | None:
        """Return a function that passes lines on without the values."""
        if listener is None or not self:
            return listener
        return lambda line: listener(self.text(line))

    def stream(self, path: Path, info: StreamInfo) -> StreamInfo:
        """Take the values out of a file that was printed, and return what is known of it now."""
        places = list(self._places(path)) if self else []
        if not places:
            return info
        with path.open("r+b") as file:
            for start, length in places:
                file.seek(start)
                file.write(b"*" * length)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return dataclasses.replace(info, sha256=f"sha256:{digest}")

    def observation(self, seen: Observation) -> None:
        """Take the values out of paths and addresses that were seen."""
        if not self:
            return
        for field in ("reads", "writes", "denied", "programs", *_ADDRESSES):
            found: dict[str, None] = getattr(seen, field)
            setattr(seen, field, {self.text(name): None for name in found})

    def outputs(self, folder: Path) -> list[LeftOut]:
        """Remove output files that hold a value, or have it in their name; say which."""
        left_out = []
        for path, _ in list(regular_files(folder)) if self else []:
            where = printable(path)
            named = self.text(where) != where
            if named or any(True for _ in self._places(folder / path)):
                (folder / path).unlink()
                left_out.append(LeftOut(self.text(where), "it holds the value of a secret"))
        return left_out

    def _places(self, path: Path) -> list[tuple[int, int]]:
        """Return start and length of each value in a file, read in overlapping blocks."""
        found: set[tuple[int, int]] = set()
        with path.open("rb") as file:
            rest, offset = b"", 0
            while block := file.read(BLOCK):
                data = rest + block
                for value in self._values.values():
                    at = data.find(value)
                    while at >= 0:
                        found.add((offset + at, len(value)))
                        at = data.find(value, at + 1)
                keep = min(len(data), self._longest - 1)
                rest = data[len(data) - keep :]
                offset += len(data) - keep
        return sorted(found)
