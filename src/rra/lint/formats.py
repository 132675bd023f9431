"""Lint results as text, JSON, GitHub annotations and SARIF; pure functions that return text."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from rra import __version__
from rra.errors import UsageError
from rra.lint.finding import Finding, LintResult, Severity
from rra.lint.rule import Rule, rules

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NAMED = 3
_SARIF_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_GITHUB_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def format_result(result: LintResult, style: str = "text") -> str:
    """Return a result in one of `FORMATS`.

    Raises:
        UsageError: There is no such format.
    """
    if style not in FORMATS:
        raise UsageError(f"there is no format {style}", hint=f"choose one of {', '.join(FORMATS)}")
    return FORMATS[style](result)


def to_text(result: LintResult) -> str:
    """Return one line per finding with its hint below, then a summary."""
    lines: list[str] = []
    for finding in result.findings:
        clause = f" [{finding.clause}]" if finding.clause else ""
        what = f"{finding.severity} {finding.rule} {finding.message}{clause}"
        lines.append(f"{finding.place}: {what}")
        if finding.hint:
            lines.append(f"    {finding.hint}")
    lines += [
        f"{item.finding.place}: overlooked {item.finding.rule}: {item.reason}"
        for item in result.suppressed
    ]
    if result.unchecked:
        lines.append(f"not looked at: {result.unchecked}")
    lines += _skipped(result)
    return "\n".join([*lines, summary(result)]) + "\n"


def _skipped(result: LintResult) -> list[str]:
    """Return one line for each reason why rules could not run."""
    reasons: dict[str, list[str]] = {}
    for code, why in result.skipped.items():
        reasons.setdefault(why, []).append(code)
    return [
        f"not applied: {', '.join(codes)} ({why})"
        if len(codes) <= _NAMED
        else f"not applied: {len(codes)} rules ({why})"
        for why, codes in reasons.items()
    ]


def _unchecked(result: LintResult) -> str:
    """Return what was not looked at of the document, and how many rules could not run."""
    rules_left = f"; {_plural(len(result.skipped), 'rule')} not applied" if result.skipped else ""
    return f"not looked at: {result.unchecked}{rules_left}"


def summary(result: LintResult) -> str:
    """Return one sentence: how many findings of each weight, and what was looked at."""
    counts = [
        _plural(result.count(severity), str(severity))
        for severity in Severity
        if result.count(severity)
    ]
    found = ", ".join(counts) or "nothing to object to"
    looked = f"{_plural(len(result.rules), 'rule')} over {_plural(result.files, 'file')}"
    return f"{found} ({looked}, profile {result.profile})"


def to_json(result: LintResult) -> str:
    """Return the result as one JSON object."""
    return json.dumps(result.to_json(), indent=2, ensure_ascii=False) + "\n"


def to_github(result: LintResult) -> str:
    """Return workflow commands that GitHub shows beside the lines of a pull request."""
    lines = [_github_command(finding) for finding in result.findings]
    if result.unchecked:
        lines.append(f"::notice title=rra lint::{_escape_data(_unchecked(result))}")
    return "".join(f"{line}\n" for line in lines)


def to_sarif(result: LintResult) -> str:
    """Return a SARIF 2.1.0 log (OASIS standard, March 2020)."""
    known = rules()
    used = sorted({f.rule for f in result.findings} | set(result.rules))
    driver = {
        "name": "rra",
        "version": __version__,
        "rules": [_sarif_rule(code, known) for code in used],
    }
    overlooked = {id(item.finding): item.reason for item in result.suppressed}
    findings = [*result.findings, *(item.finding for item in result.suppressed)]
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _sarif_result(finding, used, overlooked.get(id(finding))) for finding in findings
        ],
    }
    if result.unchecked:
        note = {"level": "note", "message": {"text": f"{_unchecked(result)}."}}
        invocation = {"executionSuccessful": True, "toolExecutionNotifications": [note]}
        run["invocations"] = [invocation]
    log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[LintResult], str]] = {
    "text": to_text,
    "json": to_json,
    "github": to_github,
    "sarif": to_sarif,
}
"""Formatters by name."""


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _github_command(finding: Finding) -> str:
    """Write one command; its escapes are those of the Actions toolkit."""
    properties = {"file": finding.path, "title": finding.rule}
    if finding.line is not None:
        properties["line"] = str(finding.line)
    if finding.column is not None:
        properties["col"] = str(finding.column)
    pairs = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    clause = f" [{finding.clause}]" if finding.clause else ""
    text = f"{finding.message}{clause}" + (f"\n{finding.hint}" if finding.hint else "")
    return f"::{_GITHUB_LEVEL[finding.severity]} {pairs}::{_escape_data(text)}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _sarif_rule(code: str, known: Mapping[str, type[Rule]]) -> dict[str, Any]:
    rule = known[code]
    page = inspect.getdoc(rule) or ""
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": page.split("\n\n", 1)[0].replace("\n", " ")},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _SARIF_LEVEL[rule.severity]},
        "properties": {"profile": str(rule.profile), "clause": rule.clause},
    }


def _sarif_result(finding: Finding, used: list[str], overlooked: str | None) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.path)}}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line}
        if finding.column is not None:
            location["region"]["startColumn"] = finding.column
    hint = f" {finding.hint[:1].upper()}{finding.hint[1:]}." if finding.hint else ""
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": used.index(finding.rule),
        "level": _SARIF_LEVEL[finding.severity],
        "message": {"text": f"{finding.message}.{hint}"},
        "locations": [{"physicalLocation": location}],
    }
    if finding.clause:
        result["properties"] = {"clause": finding.clause}
    if overlooked is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": overlooked}]
    return result
