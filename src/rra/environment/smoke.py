"""Whether an installed environment imports what the code imports: in a sandbox, no network.

Only packages are imported, never the code of the repository. What fails is put into one of three
kinds, because they call for different things: another version helps against a name that is gone,
but neither against a library of the system that is missing nor against a package nobody named.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rra._base import process
from rra.sandbox import Sandbox, View, best_sandbox

SECONDS = 180.0
_MARK = "rra-import:"
_LONGEST = 240
_PROGRAM = f"""
import json, sys
def absent(error):
    names, seen = [], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, ModuleNotFoundError) and error.name:
            names.insert(0, error.name.split(".")[0])
        error = error.__cause__ or error.__context__
    return names
with open(sys.argv[1]) as file:
    statements = json.load(file)
for number in range(int(sys.argv[2]), len(statements)):
    why, names = "", []
    try:
        exec(statements[number], {{"__name__": "trial"}})
    except BaseException as error:
        why = type(error).__name__ + ": " + str(error)
        names = absent(error)
    sys.stdout.write("\\n{_MARK}" + json.dumps([number, why, names]) + "\\n")
    sys.stdout.flush()
"""
_LIBRARY = re.compile(r"(\S+\.so[.\d]*): cannot open shared object file")
_NO_MODULE = re.compile(r"No module named '?([\w.]+)'?")

Kind = Literal["version", "system", "missing"]


@dataclasses.dataclass(frozen=True, slots=True)
class FailedImport:
    """One statement that fails.

    Attributes:
        statement: The statement.
        why: The error, on one line.
        kind: ``version``: another version or Python may have it; ``system``: a library of the
            system is missing; ``missing``: no package of the lock provides it.
        absent: Top-level names of the modules that were not found on the way, the first that
            was looked for first: what is reported may only be the last of them.
    """

    statement: str
    why: str
    kind: Kind
    absent: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.statement} fails: {self.why}"


@dataclasses.dataclass(frozen=True, slots=True)
class Installed:
    """An environment to try: its folder, its Python, and where that Python is installed."""

    root: Path
    python: Path
    base_prefix: Path


def try_imports(
    environment: Installed,
    statements: Sequence[str],
    *,
    unnamed: Sequence[str] = (),
    sandbox: Sandbox | None = None,
    seconds: float = SECONDS,
) -> tuple[FailedImport, ...]:
    """Run import statements in an environment, and return those that fail.

    A statement that ends the interpreter, or does not end, fails; those after it are tried in a
    new one.

    Args:
        environment: The environment.
        statements: Import statements.
        unnamed: Top-level names of which no package is known.
        sandbox: What they run in; the best that works by default.
        seconds: Time for all of them.
    """
    failed: list[FailedImport] = []
    box = sandbox or best_sandbox()
    with tempfile.TemporaryDirectory(prefix="rra-imports-") as name:
        scratch = Path(name)
        (scratch / "tmp").mkdir()
        (scratch / "trial.py").write_text(_PROGRAM, "utf-8")
        (scratch / "statements.json").write_text(json.dumps(list(statements)), "utf-8")
        first = 0
        while first < len(statements):
            answers, ending = _run(environment, scratch, first, box, seconds)
            for number, why, absent in answers:
                if why:
                    said = why.replace(f"{environment.root}/", "")
                    failed.append(_failed(statements[number], said, unnamed, absent))
            first = answers[-1][0] + 1 if answers else first
            if first < len(statements):
                failed.append(_failed(statements[first], ending, unnamed))
                first += 1
    return tuple(failed)


def _run(
    environment: Installed, scratch: Path, first: int, box: Sandbox, seconds: float
) -> tuple[list[tuple[int, str, tuple[str, ...]]], str]:
    temporary = scratch / "tmp"
    inside = box.temporary_path(temporary)
    view = View(
        read_only=[environment.root, environment.base_prefix, scratch],
        temporary=temporary,
        cwd=scratch,
        env={
            "HOME": str(inside),
            "TMPDIR": str(inside),
            "PATH": f"{environment.root / 'bin'}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": str(inside),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "OMP_NUM_THREADS": "1",
        },
    )
    program = [str(environment.python), "-W", "ignore", str(scratch / "trial.py")]
    command = box.wrap([*program, str(scratch / "statements.json"), str(first)], view)
    plain = {"PATH": "/usr/bin:/bin"}
    done = process.run(["timeout", "--kill-after=5", str(seconds), *command], env=plain)
    answers = [
        (int(said[0]), str(said[1]), tuple(str(name) for name in said[2]))
        for line in done.stdout.splitlines()
        if line.startswith(_MARK)
        for said in [json.loads(line.removeprefix(_MARK))]
    ]
    late = done.returncode in {124, 137}
    ending = f"not done after {seconds:.0f} s" if late else f"Python ended: {done.last_error(1)}"
    return answers, ending


def _failed(
    statement: str, why: str, unnamed: Sequence[str], absent: tuple[str, ...] = ()
) -> FailedImport:
    line = " ".join(why.split())[:_LONGEST]
    kind: Kind = "version"
    missing = _NO_MODULE.search(line)
    if _LIBRARY.search(line):
        kind = "system"
    elif missing and missing[1] in unnamed:
        kind = "missing"
    return FailedImport(statement, line, kind, absent)
