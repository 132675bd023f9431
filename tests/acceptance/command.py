"""Calls the `rra` command as a user does, and reads what it answers."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.warm import warm

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Long enough for a build of an environment on a busy machine; a hang is a failure.
PATIENCE_SECONDS = 300

_KILL_AT = Path(__file__).with_name("kill_at.py")


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What one call of the command gave.

    Attributes:
        argv: The arguments after ``rra``.
        code: Exit code; negative for a signal.
        out: Standard output.
        err: Standard error.
    """

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        """The JSON document on standard output."""
        try:
            document = json.loads(self.out)
        except json.JSONDecodeError:
            document = None
        assert isinstance(document, dict), f"exit {self.code}\n{self.out}\n{self.err}"
        return document

    @property
    def result(self) -> dict[str, Any]:
        """The result inside the JSON document."""
        result = self.envelope["result"]
        assert isinstance(result, dict), self.out
        return result

    @property
    def said(self) -> str:
        """Everything that was printed, on one line and with single spaces."""
        return " ".join(f"{self.out}\n{self.err}".split())

    def expect(self, code: int) -> Answer:
        """Return the answer itself, or fail with all that was printed.

        Raises:
            AssertionError: another exit code.
        """
        shown = f"rra {' '.join(self.argv)}\nexit {self.code}, not {code}\n{self.out}\n{self.err}"
        assert self.code == code, shown
        return self


def rra(
    *argv: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    text: str = "",
) -> Answer:
    """Run ``rra`` with these arguments, in a process of its own.

    Args:
        argv: Arguments after the command's name.
        cwd: Working directory.
        env: Variables on top of those of the tests.
        text: What it finds on standard input.
    """
    arguments = tuple(str(argument) for argument in argv)
    place, variables = str(cwd or Path.cwd()), {**os.environ, **(env or {})}
    if warm().can(variables):
        code, out, err = warm().call(
            arguments, place, variables, timeout=PATIENCE_SECONDS, text=text
        )
    else:
        done = subprocess.run(
            [sys.executable, "-m", "rra", *arguments],
            cwd=place,
            env=variables,
            input=text.encode(),
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        code, out, err = done.returncode, done.stdout, done.stderr
    return Answer(arguments, code, _text(out), _text(err))


def killed(place: Path, wanted: int, counts: Path, *argv: str) -> int:
    """Run ``rra`` in a folder and kill it at its n-th change of the disk (see ``kill_at.py``).

    Args:
        place: Working directory.
        wanted: Which change; with 0 it is not killed, and their number is written down.
        counts: File for the number of changes.
        argv: Arguments after the command's name.

    Returns:
        What the process ended with.
    """
    arguments = [str(wanted), str(counts), *argv]
    code, _, _ = warm().call(
        arguments, str(place), os.environ, timeout=PATIENCE_SECONDS, program=_KILL_AT
    )
    return code


def _text(data: bytes) -> str:
    """Return what was printed, with the line ends that subprocess would give."""
    return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
