"""Which check stands behind each clause of the specification; an unmapped clause is a fault."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.spec_text import GENERATED, ID, ROOT, SPEC, Clause, Page, read_pages

TABLE = SPEC / "v1" / GENERATED
SCHEMAS = ROOT / "schemas" / "v1"
MARKED = "clause"
STAGES = ("yaml", "schema", "semantic", "artifact")
WARNING = "warning"
FINDING = "finding"
_SHOWN = 3
_TYPE = re.compile(r"v[0-9]+")
_HEAD = """\
# Where each clause is checked

This page is written by a program from the other pages, the schemas, the rules, the conformance
corpus and the tests; a clause without a check, or without a reason why no machine can check it,
fails the build. *schema* names the places in `schemas/v1/` that state the clause, *corpus* the
cases in `schemas/conformance/v1/invalid/` that break it, *rule* a rule of the reference
implementation, *test* one of its tests.

*stage* is where a validator decides the clause ([conformance](conformance.md)). `warning`: what
breaks it stays valid, and a validator warns. `finding`: what breaks it stays valid, and a validator
may report it or not ([what is only recommended](conformance.md#what-is-only-recommended)). Empty:
neither a document nor an artifact shows whether it is broken.
"""


@dataclasses.dataclass
class Checks:
    """What names a clause.

    Attributes:
        schemas: Places in schemas, ``manifest#/properties/version``.
        rules: Codes of lint rules.
        cases: Corpus cases by stage; those that only expect a warning have the stage ``warning``.
        tests: Marked tests.
        sources: Places in the source that name it.
    """

    schemas: list[str] = dataclasses.field(default_factory=list)
    rules: list[str] = dataclasses.field(default_factory=list)
    cases: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    tests: list[str] = dataclasses.field(default_factory=list)
    sources: list[str] = dataclasses.field(default_factory=list)

    @property
    def places(self) -> list[str]:
        """Every place that names the clause."""
        cases = [case for found in self.cases.values() for case in found]
        return [*self.schemas, *self.rules, *cases, *self.tests, *self.sources]

    @property
    def stages(self) -> list[str]:
        """The stages in which a validator decides it, in their order."""
        found = {stage for stage in self.cases if stage != WARNING}
        found |= {"schema"} if self.schemas else set()
        found |= {"artifact"} if self.rules and not found else set()
        named = [stage for stage in STAGES if stage in found]
        return named or ([WARNING] if WARNING in self.cases else [])

    def lacks(self, checker: str) -> str:
        """Return what is missing for a checker to stand, or nothing."""
        if checker == "schema":
            if not self.schemas:
                return "no x-clause in a schema names it"
            return "" if self.cases.get("schema") else "no invalid case of stage schema breaks it"
        if checker == "rule":
            if self.rules or self.tests or set(self.cases) - {"schema"}:
                return ""
            return "no rule, no invalid case of stage yaml, semantic or artifact, no marked test"
        if checker in {"recorder", "executor"} and not self.tests:
            return "no test is marked with it"
        return ""


@dataclasses.dataclass(frozen=True)
class ClauseMap:
    """The clauses, what checks them, and what is wrong.

    Attributes:
        clauses: In the order of the pages.
        checks: By clause id.
        faults: What fails the build, one line each.
    """

    clauses: tuple[Clause, ...]
    checks: dict[str, Checks]
    faults: tuple[str, ...]


def clause_map() -> ClauseMap:
    """Read everything and put it together."""
    pages = read_pages()
    clauses = tuple(clause for page in pages for clause in page.clauses)
    stems = {Path(page.name).stem for page in pages}
    checks: dict[str, Checks] = {}
    for kind, name, place in (*schema_uses(), *rule_uses(), *case_uses(), *test_uses()):
        found = checks.setdefault(name, Checks())
        if kind.startswith("case:"):
            found.cases.setdefault(kind.removeprefix("case:"), []).append(place)
        else:
            getattr(found, kind).append(place)
    for name, place in source_uses(stems):
        checks.setdefault(name, Checks()).sources.append(place)
    faults = [fault for page in pages for fault in page.faults]
    faults += [*twice(pages), *without_clause(), *undefined(clauses, checks)]
    faults += unmapped(clauses, checks)
    return ClauseMap(clauses, checks, tuple(faults))


def twice(pages: Iterable[Page]) -> Iterator[str]:
    """Yield a fault for each id that two pages define."""
    seen: dict[str, Clause] = {}
    for clause in (clause for page in pages for clause in page.clauses):
        other = seen.setdefault(clause.id, clause)
        if other.page != clause.page:
            yield f"{clause.page}:{clause.line}: {clause.id} is defined in {other.page} already"


def unmapped(clauses: Iterable[Clause], checks: dict[str, Checks]) -> Iterator[str]:
    """Yield a fault for each checker of a clause that nothing stands behind."""
    for clause in clauses:
        found = checks.get(clause.id, Checks())
        for checker in clause.checkers:
            missing = found.lacks(checker)
            if missing:
                yield f"{clause.page}:{clause.line}: {clause.id} ({checker}): {missing}"


def undefined(clauses: Iterable[Clause], checks: dict[str, Checks]) -> Iterator[str]:
    """Yield a fault for each id that is used and that no page defines."""
    known = {clause.id for clause in clauses}
    for name, found in sorted(checks.items()):
        if name not in known:
            yield f"{found.places[0]}: no page defines the clause {name}"


def schema_uses() -> Iterator[tuple[str, str, str]]:
    """Yield the clauses that schemas name."""
    from rra.schema.clauses import KEY, subschemas

    for path in sorted(SCHEMAS.glob("*.schema.json")):
        schema = json.loads(path.read_text("utf-8"))
        for keywords, node in subschemas(schema):
            said = node.get(KEY, {})
            place = f"{path.name.split('.')[0]}#{_pointer(keywords)}"
            names = [said] if isinstance(said, str) else list(said.values())
            yield from (("schemas", name, place) for name in names)


def without_clause() -> Iterator[str]:
    """Yield a fault for each constraint of a schema that states no clause."""
    from rra.schema.clauses import clause_of, subschemas

    free = {"$schema", "$id", "$defs", "$ref", "$comment", "title", "description", "examples"}
    free |= {"default", "deprecated", "x-clause", "x-open", "x-replaced-by", "properties", "items"}
    free |= {"x-intellij-html-description", "markdownDescription", "defaultSnippets"}
    for path in sorted(SCHEMAS.glob("*.schema.json")):
        schema = json.loads(path.read_text("utf-8"))
        for keywords, node in subschemas(schema):
            for word in sorted(set(node) - free):
                root_says = clause_of(schema, (*keywords, word), "")
                if not root_says:
                    yield f"schemas/v1/{path.name}#{_pointer(keywords)}: {word} has no x-clause"


def rule_uses() -> Iterator[tuple[str, str, str]]:
    """Yield the clauses of the lint rules."""
    from rra.lint.rule import rules

    for code, rule in rules().items():
        if rule.clause:
            yield "rules", rule.clause, code


def case_uses() -> Iterator[tuple[str, str, str]]:
    """Yield the clauses of the corpus, with the stage that decides them."""
    from rra.lint.conformance import read_cases

    for case in read_cases():
        short = case.name.removeprefix("invalid/")
        for clause, _ in case.expected.faults:
            yield f"case:{case.expected.stage}", clause, short
        for clause, _ in case.expected.warnings or ():
            yield f"case:{WARNING}", clause, short


def test_uses() -> Iterator[tuple[str, str, str]]:
    """Yield the clauses that tests are marked with, read from their source."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = str(path.relative_to(ROOT))
        for function, decorator in _decorators(ast.parse(path.read_text("utf-8"))):
            call = decorator.func
            if isinstance(call, ast.Attribute) and call.attr == MARKED and "mark" in ast.dump(call):
                for argument in decorator.args:
                    said = argument.value if isinstance(argument, ast.Constant) else None
                    yield "tests", str(said), f"{name}::{function}"


def _decorators(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call):
                    yield node.name, decorator


def source_uses(pages: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the clauses that the source names: texts of their form that are nothing else."""
    other = _no_clauses()
    for path in sorted((ROOT / "src").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            found = ID.fullmatch(node.value)
            if found is None or found["page"] not in pages or found[0] in other:
                continue
            if not _TYPE.fullmatch(found["slug"]):
                yield found[0], f"{name}:{node.lineno}"


def _no_clauses() -> set[str]:
    """Return texts that look like clauses: kinds of errors, and paths of the artifact."""
    from rra import errors
    from rra.artifact import layout

    kinds = [value for value in vars(errors).values() if isinstance(value, type)]
    slugs = {kind.slug for kind in kinds if issubclass(kind, errors.RraError)}
    return slugs | {value for value in vars(layout).values() if isinstance(value, str)}


def _pointer(keywords: Iterable[Any]) -> str:
    return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keywords)


# ------------------------------------------------------------------------------------ table


def render(found: ClauseMap) -> str:
    """Return the page with the table."""
    parts = [_HEAD]
    pages: dict[str, list[Clause]] = {}
    for clause in found.clauses:
        pages.setdefault(clause.page, []).append(clause)
    total = len(found.clauses)
    declared = sum(clause.checkers == ("declaration",) for clause in found.clauses)
    parts.append(f"{total} clauses; {total - declared} of them are checked by machine.\n")
    for page, clauses in sorted(pages.items()):
        path = Path(page)
        link = path.name if path.parent.name == "v1" else f"../{path.name}"
        parts.append(f"## {path.stem}\n\n[{path.stem}]({link})\n")
        parts.append("| clause | word | binds | checked by | stage | where |")
        parts.append("|---|---|---|---|---|---|")
        parts += [_row(clause, found.checks.get(clause.id, Checks())) for clause in clauses]
        parts.append("")
    return "\n".join(parts)


def _row(clause: Clause, checks: Checks) -> str:
    where = []
    if "schema" in clause.checkers:
        where.append(_listed("schema", checks.schemas))
        where.append(_listed("corpus", checks.cases.get("schema", [])))
    if "rule" in clause.checkers:
        where += [_listed("rule", checks.rules)]
        others = [
            case for stage, cases in checks.cases.items() if stage != "schema" for case in cases
        ]
        where += [_listed("corpus", others)]
    if {"rule", "recorder", "executor"} & set(clause.checkers):
        where.append(_listed("test", checks.tests))
    if clause.reason:
        where.append(f"not checkable by machine: {clause.reason}")
    cells = [
        f"`{clause.id}`",
        clause.word,
        ", ".join(clause.classes),
        ", ".join(clause.checkers),
        ", ".join(_stages(clause, checks)),
        "; ".join(filter(None, where)),
    ]
    return "| " + " | ".join(re.sub(r"\s+", " ", cell).replace("|", "\\|") for cell in cells) + " |"


def _stages(clause: Clause, checks: Checks) -> list[str]:
    """Return what the column says; what is only recommended is decided in no stage."""
    if not {"schema", "rule"} & set(clause.checkers):
        return []
    if clause.word.startswith("SHOULD") and checks.stages:
        return [WARNING if WARNING in checks.cases else FINDING]
    return checks.stages


def _listed(kind: str, places: list[str]) -> str:
    if not places:
        return ""
    unique = list(dict.fromkeys(places))
    shown = ", ".join(f"`{place}`" for place in unique[:_SHOWN])
    more = f" and {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else ""
    return f"{kind} {shown}{more}"
