"""Conformance cases: small documents, each with what a validator has to say about it.

A case is a folder with an ``expect.yaml`` (``schemas/conformance/expect.schema.json``) and the
document it is about. The corpus that ships shows each clause kept and broken; folders of other
people are run in the same way.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rra._base.files import safe_join
from rra._base.resources import conformance_path
from rra._base.yaml import YamlDocument, parse_bytes
from rra.artifact.checking import ARTIFACT, check_bytes, read_bytes
from rra.errors import FormatError, NotAnArtifactError, Problem, UsageError
from rra.lint.engine import lint_artifact
from rra.lint.finding import Profile
from rra.schema import check_against

if TYPE_CHECKING:
    from rra.artifact import Artifact

EXPECT = "expect.yaml"
Mark = tuple[str, str]
"""A clause and a JSON pointer."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What is said of a document: expected, or found.

    Attributes:
        stage: Where it was decided; of a valid document, how far it was checked.
        verdict: ``valid`` or ``invalid``.
        faults: Clauses that are broken, and where.
        warnings: Clauses that warnings are about, and where; None when nothing is expected.
    """

    stage: str
    verdict: str
    faults: tuple[Mark, ...] = ()
    warnings: tuple[Mark, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain JSON."""
        plain: dict[str, Any] = {"stage": self.stage, "verdict": self.verdict}
        for key, marks in (("faults", self.faults), ("warnings", self.warnings or ())):
            if marks:
                plain[key] = [{"clause": clause, "pointer": pointer} for clause, pointer in marks]
        return plain


@dataclasses.dataclass(frozen=True)
class Case:
    """One case, as its ``expect.yaml`` describes it.

    Attributes:
        name: Its folder, relative to the corpus.
        folder: Its folder.
        page: The page of the specification that it belongs to: the folder above it.
        title: What it shows.
        document: What the file is, or ``artifact``.
        file: The document, relative to the folder.
        expected: What a validator has to say.
    """

    name: str
    folder: Path
    page: str
    title: str
    document: str
    file: str
    expected: Answer


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What this implementation says of a case.

    Attributes:
        case: The case.
        found: What was found.
        problems: The messages behind it.
    """

    case: Case
    found: Answer
    problems: tuple[Problem, ...] = ()

    @property
    def difference(self) -> str:
        """In which respect found and expected differ; empty when they agree."""
        expected, found = self.case.expected, self.found
        if expected.verdict != found.verdict:
            return "verdict"
        if expected.verdict == "invalid":
            return _fault_difference(expected, found)
        have, want = set(found.warnings or ()), set(expected.warnings or ())
        agree = want <= have if self.case.document == ARTIFACT else want == have
        return "" if agree else "warnings"

    @property
    def agrees(self) -> bool:
        """Whether found and expected are the same."""
        return not self.difference

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain JSON."""
        return {
            "case": self.case.name,
            "page": self.case.page,
            "title": self.case.title,
            "document": self.case.document,
            "agrees": self.agrees,
            "difference": self.difference,
            "expected": self.case.expected.to_json(),
            "found": self.found.to_json(),
        }


def _fault_difference(expected: Answer, found: Answer) -> str:
    if expected.stage != found.stage:
        return "stage"
    if {clause for clause, _ in found.faults} != {clause for clause, _ in expected.faults}:
        return "clause"
    if set(found.faults) != set(expected.faults):
        return "pointer"
    return "" if set(expected.warnings or ()) <= set(found.warnings or ()) else "warnings"


def read_cases(root: Path | None = None) -> list[Case]:
    """Find the cases below a folder, by name; the corpus that ships when none is given.

    Raises:
        UsageError: There is no such folder, or no case in it.
        FormatError: Expectations are malformed; every problem, with file and line.
    """
    cases, problems = find_cases(root)
    if problems:
        message = f"expectations of the corpus are malformed: {len(problems)} problems"
        hint = "schemas/conformance/expect.schema.json says what an expectation is"
        raise FormatError(message, problems=tuple(problems), hint=hint)
    return cases


def find_cases(root: Path | None = None) -> tuple[list[Case], list[Problem]]:
    """Find the cases below a folder, and what is wrong with those that cannot be used.

    Args:
        root: The folder; the corpus that ships by default.

    Raises:
        UsageError: There is no such folder, or no case in it.
    """
    root = root or conformance_path()
    if not root.is_dir():
        what = "is a file" if root.is_file() else "does not exist"
        raise UsageError(f"{root} {what}", hint=f"give a folder of cases, each with {EXPECT}")
    cases: list[Case] = []
    problems: list[Problem] = []
    for folder in _folders(root):
        try:
            cases.append(_read_case(root, folder))
        except FormatError as error:
            problems += error.problems
    if not cases and not problems:
        raise UsageError(f"no case below {root}", hint=f"a case is a folder with {EXPECT}")
    return cases, problems


def run_case(case: Case, expected_guide: Callable[[Artifact], str | None] | None = None) -> Outcome:
    """Say what this implementation finds in a case.

    Args:
        case: The case.
        expected_guide: Renders the guide of an artifact as it should be now.

    Raises:
        UsageError: The document of the case does not exist.
    """
    if case.document == ARTIFACT:
        return _run_artifact(case, expected_guide)
    path = case.folder / case.file
    if not path.is_file():
        message = f"the case {case.name} has no file {case.file}"
        raise UsageError(message, hint=f"correct file in its {EXPECT}")
    data = read_bytes(path, case.document)
    checked = check_bytes(data, case.document, source=f"{case.name}/{case.file}")
    return _outcome(case, checked.stage, checked.problems)


def _run_artifact(case: Case, expected_guide: Callable[[Artifact], str | None] | None) -> Outcome:
    root = safe_join(case.folder, case.file) if case.file != "." else case.folder
    try:
        found = lint_artifact(root, profile=Profile.REPRODUCIBLE, expected_guide=expected_guide)
    except NotAnArtifactError as error:
        raise UsageError(f"the case {case.name}: {error.message}", hint=error.hint) from error
    except FormatError as error:
        return _outcome(case, error.stage, error.problems)
    problems = [
        Problem(
            finding.message,
            f"{case.name}/{finding.path}",
            finding.line,
            finding.column,
            finding.pointer or "",
            finding.clause,
            finding.hint,
            "error" if str(finding.severity) == "error" else "warning",
        )
        for finding in found.findings
    ]
    return _outcome(case, found.stage or ARTIFACT, tuple(problems))


def _outcome(case: Case, stage: str, problems: tuple[Problem, ...]) -> Outcome:
    faults = _marks(problem for problem in problems if problem.severity == "error")
    warnings = _marks(problem for problem in problems if problem.severity == "warning")
    return Outcome(
        case, Answer(stage, "invalid" if faults else "valid", faults, warnings), problems
    )


def _marks(problems: Iterator[Problem]) -> tuple[Mark, ...]:
    return tuple(dict.fromkeys((problem.clause, problem.pointer) for problem in problems))


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders with an expectation, by name; a case holds no other case."""
    if (root / EXPECT).is_file():
        yield root
        return
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        yield from _folders(folder)


def _read_case(root: Path, folder: Path) -> Case:
    relative = folder.relative_to(root)
    name = relative.as_posix() if relative.parts else folder.name
    source = f"{name}/{EXPECT}"
    document = _read_expectation(folder / EXPECT, source)
    said: dict[str, Any] = document.data
    kinds = [part for part in relative.parts[:1] if part in {"valid", "invalid"}]
    if kinds and kinds != [said["verdict"]]:
        message = f"verdict is {said['verdict']} in a folder of {kinds[0]} cases"
        raise _malformed(document.problem(["verdict"], message))
    if PurePosixPath(said["file"]).is_absolute() or ".." in PurePosixPath(said["file"]).parts:
        message = f"file leads outside the case: {said['file']}"
        raise _malformed(document.problem(["file"], message))
    broken = [said, *said.get("also", ())] if said["verdict"] == "invalid" else []
    faults = tuple((one["clause"], one["pointer"]) for one in broken)
    warnings = tuple((one["clause"], one["pointer"]) for one in said.get("warnings", ()))
    expected = Answer(said["stage"], said["verdict"], faults, warnings)
    page = relative.parts[-2] if len(relative.parts) > 1 else ""
    return Case(name, folder, page, said["title"], said["document"], said["file"], expected)


def _read_expectation(path: Path, source: str) -> YamlDocument:
    document = parse_bytes(path.read_bytes(), source=source)
    problems = check_against(document, _expect_schema(), "")
    if problems:
        raise _malformed(*problems)
    return document


def _malformed(*problems: Problem) -> FormatError:
    return FormatError(str(problems[0]), problems=problems, hint="correct the expectation")


@functools.cache
def _expect_schema() -> dict[str, Any]:
    path = conformance_path("expect.schema.json")
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return schema
