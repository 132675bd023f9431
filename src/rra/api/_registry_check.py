"""``rra registry check``: many bundles against the rules, one line of JSON for each."""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rra
from rra._base import clock
from rra.api._checked_lines import CheckedLines, Verdict, checked_lines
from rra.api._many import MOST_JOBS, Opener, each, references, without_password
from rra.api._result import Progress, VerbResult, silent
from rra.api._unpack import bundle_reference
from rra.bundle.store import resolve
from rra.errors import RraError, UsageError
from rra.lint import Severity, lint_artifact
from rra.lint.finding import Profile

if TYPE_CHECKING:
    from rra.bundle.reference import BundleReference
    from rra.bundle.store import BlobStore

_SHOWN = 20
_RULES = 50
_MESSAGE = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckReport(VerbResult):
    """What a check of many bundles came to; the answer is yes when all of them pass.

    Attributes:
        file: The file of lines.
        profile: The profile that was asked for.
        references: How many references there were.
        checked: How many bundles were checked now; the others had been.
        verdicts: How many passed, failed, and could not be checked.
        noticed: On how many of those that were checked now there are notices.
        first: The first that did not pass: reference, verdict and why.
    """

    file: Path
    profile: str
    references: int
    checked: int
    verdicts: dict[Verdict, int]
    noticed: int
    first: tuple[tuple[str, Verdict, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "file": str(self.file),
            "profile": self.profile,
            "references": self.references,
            "checked": self.checked,
            "verdicts": self.verdicts,
            "noticed": self.noticed,
            "first": [
                {"reference": reference, "verdict": verdict, "why": why}
                for reference, verdict, why in self.first
            ],
        }


@dataclasses.dataclass(frozen=True, slots=True)
class _Task:
    """What all checks of one call have in common."""

    opener: Opener
    profile: str
    lines: CheckedLines


def registry_check(
    file: Path,
    jsonl: Path,
    *,
    profile: str = "basic",
    jobs: int = 2,
    plain_http: bool = False,
    progress: Progress = silent,
) -> CheckReport:
    """Check many bundles against the rules; every byte of each is verified, nothing of it is run.

    A bundle that is in the file of lines already, with the same digest, profile and version of
    `rra`, is not checked again; one that could not be checked is. What is wrong with one bundle
    never ends the check of the others.

    Args:
        file: File of references, one a line, or ``-`` for standard input.
        jsonl: File of lines, which grows with each bundle (``schemas/cli/registry-check-line``).
        profile: ``basic``, ``reproducible`` or ``archival``.
        jobs: How many are checked at once.
        plain_http: Speak to registries without TLS; on this machine that is found out.
        progress: Called with one line for each bundle.

    Raises:
        UsageError: There is no such file or profile, or another check writes to the file.
        FormatError: The file of lines holds something else.
        StorageError: The file of lines cannot be written.
    """
    from rra.registry import Connections

    if profile not in set(Profile):
        names = ", ".join(Profile)
        raise UsageError(f"there is no profile {profile!r}", hint=f"profiles: {names}")
    if not 1 <= jobs <= MOST_JOBS:
        raise UsageError(f"{jobs} jobs at once", hint=f"give a number from 1 to {MOST_JOBS}")
    if str(file) != "-" and file.exists() and jsonl.exists() and file.samefile(jsonl):
        raise UsageError(f"{file} is both read and written", hint="name another file for --jsonl")
    counts: Counter[Verdict] = Counter()
    first: list[tuple[str, Verdict, str]] = []
    checked = noticed = 0
    named = references(file)
    with checked_lines(jsonl) as lines:
        opener = Opener(Connections(plain_http=plain_http, at_once=jobs))
        task = _Task(opener, profile, lines)
        for line in (line for _, line in each(functools.partial(_line, task), named, jobs)):
            known = lines.known(line)
            verdict: Verdict = known or line["verdict"]
            if known is None:
                lines.append(line)
                checked += 1
            counts[verdict] += 1
            noticed += bool(line["notices"])
            why = _why(line, known)
            if verdict != "passed" and len(first) < _SHOWN:
                first.append((line["reference"], verdict, why))
            progress(f"{line['reference']}: {verdict}{f' ({why})' if why else ''}")
            for notice in line["notices"]:
                progress(f"{line['reference']}: {notice}")
    verdicts: dict[Verdict, int] = {name: counts[name] for name in ("passed", "failed", "error")}
    return CheckReport(
        file=jsonl,
        profile=profile,
        references=counts.total(),
        checked=checked,
        verdicts=verdicts,
        noticed=noticed,
        first=tuple(first),
        exit_code=1 if verdicts["failed"] else 3 if verdicts["error"] else 0,
    )


def _why(line: dict[str, Any], known: Verdict | None) -> str:
    if known is not None:
        return "" if known == "passed" else "as its line says, from an earlier check"
    if line["error"] is not None:
        return str(line["error"]["message"])
    rules = ", ".join(line["rules"][:5])
    count = line["counts"]["error"]
    return f"{count} error{'s' * (count != 1)}: {rules}" if rules else ""


def _line(task: _Task, text: str) -> dict[str, Any]:
    """Check one bundle and return its line; nothing is raised."""
    started = clock.monotonic()
    line: dict[str, Any] = {
        "reference": without_password(text),
        "digest": None,
        "profile": task.profile,
        "rra": rra.__version__,
        "verdict": "error",
        "counts": dict.fromkeys(map(str, Severity), 0),
        "rules": [],
        "notices": [],
        "seconds": 0.0,
        "error": None,
    }
    try:
        named = bundle_reference(text)
        store = task.opener.store(named)
        _, descriptor = resolve(store, named.tag, named.digest)
        line["digest"] = descriptor.digest
        if task.lines.known(line) is None:
            _judge(named, store, task.profile, line)
    except RraError as error:
        _fault(line, error.slug, error.message)
    except Exception as error:  # noqa: BLE001 - one bundle never ends the check of the others
        _fault(line, "internal", f"{type(error).__name__}: {error}")
    line["seconds"] = round(clock.monotonic() - started, 3)
    return line


def _fault(line: dict[str, Any], slug: str, message: str) -> None:
    line["verdict"] = "error"
    line["error"] = {"slug": slug, "message": message[:_MESSAGE]}


def _judge(named: BundleReference, store: BlobStore, profile: str, line: dict[str, Any]) -> None:
    """Unpack a bundle, verified, into a place that goes again, and put what the rules say in."""
    from rra.api._open import insist_on_version
    from rra.api._statements import notices_of
    from rra.author import expected_guide
    from rra.bundle.reader import read_bundle
    from rra.bundle.staging import claimed
    from rra.bundle.unpack import unpack_bundle

    bundle = read_bundle(store, None, line["digest"])
    insist_on_version(named, bundle)
    line["notices"] = [one.message[:_MESSAGE] for one in notices_of(store, bundle)]
    with claimed(Path(tempfile.gettempdir()), prefix="rra-check-", mode=0o700) as folder:
        root = folder / bundle.config.name
        unpack_bundle(bundle, store, root)
        found = lint_artifact(root, profile=profile, expected_guide=expected_guide)
    line["verdict"] = "passed" if found.ok else "failed"
    line["counts"] = {str(severity): found.count(severity) for severity in Severity}
    wrong = {one.rule for one in found.findings if one.severity is Severity.ERROR}
    line["rules"] = sorted(wrong)[:_RULES]
