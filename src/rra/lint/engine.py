"""Run the rules over an artifact."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base.files import full_disk
from rra.artifact import load_artifact
from rra.artifact.checking import DOCUMENTS, check_bytes, document_of, read_bytes, unreadable
from rra.artifact.layout import MANIFEST
from rra.errors import FormatError, InternalError, RraError, UsageError
from rra.lint.context import Context
from rra.lint.finding import Finding, LintResult, Profile, Severity, Suppressed
from rra.lint.rule import Rule, rules
from rra.lint.suppression import read_suppressions

if TYPE_CHECKING:
    from collections.abc import Callable

    from rra.artifact import Artifact

INTERNAL = "RRA000"
"""Code of findings about the linter itself: a rule that raised, a file it could not read."""

_BREAKS = "RRA001"
"""The rule that names what breaks a document."""

_OF_DOCUMENTS = ("RRA001", "RRA002")
"""Rules that pass on what checking a document found; they need nothing else of an artifact."""


def lint_artifact(
    root: Path,
    *,
    profile: Profile | str = Profile.BASIC,
    select: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
    expected_guide: Callable[[Artifact], str | None] | None = None,
    progress: Callable[[str], None] | None = None,
) -> LintResult:
    """Look at an artifact with every rule of a profile; nothing of it is run.

    Args:
        root: Directory of the artifact.
        profile: How much is asked of it.
        select: Codes or families (``RRA1``) to apply, whatever their profile.
        ignore: Codes or families to leave out.
        expected_guide: Renders the guide as it should be now, for the rule that compares.
        progress: Called with one line of text for each rule.

    Raises:
        NotAnArtifactError: There is no such directory, or it holds no manifest.
        FormatError: The manifest is not YAML, so nothing can be said about it.
        UsageError: Unknown profile or code.
    """
    wanted = _profile(profile)
    chosen = _choose(wanted, select, ignore or ())
    context = _open(root, expected_guide)
    findings: list[Finding] = []
    skipped: dict[str, str] = {}
    ran: list[str] = []
    for code, rule in chosen.items():
        reason = rule().unavailable(context)
        if reason:
            skipped[code] = reason
            continue
        if progress:
            progress(f"{code} {rule.name}")
        ran.append(code)
        findings += _guarded(rule, context)
    findings += _unreadable(context)
    # A file may belong to several launchers or elements; what is wrong with it is said once.
    kept, suppressed = _suppress(list(dict.fromkeys(findings)), context)
    return LintResult(
        tuple(sorted(kept, key=lambda finding: finding.order)),
        tuple(sorted(suppressed, key=lambda item: item.finding.order)),
        wanted,
        tuple(ran),
        skipped,
        len(context.files) if context.loaded else 1,
        context.stage,
    )


def lint_document(
    path: Path,
    document: str | None = None,
    *,
    profile: Profile | str = Profile.BASIC,
    select: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
) -> LintResult:
    """Check one document by itself; what needs the rest of the artifact is not looked at.

    Args:
        path: The file.
        document: What document it is, such as ``manifest``; by its name by default.
        profile: How much is asked of it.
        select: Codes or families to apply, whatever their profile.
        ignore: Codes or families to leave out.

    Raises:
        FormatError: The bytes are no document, so nothing more can be said about it.
        UsageError: The document is not known; unknown profile or code.
    """
    wanted = _profile(profile)
    chosen = _choose(wanted, select, ignore or ())
    name = document or _document_of(path)
    if name not in DOCUMENTS:
        hint = f"choose one of {', '.join(DOCUMENTS)}"
        raise UsageError(f"no document is called {name}", hint=hint)
    checked = check_bytes(read_bytes(path, name), name, source=str(path))
    if checked.document is None:
        raise unreadable(checked)
    context = Context(path.parent, None, checked.problems, stage=checked.stage)
    ran = [code for code in chosen if code in _OF_DOCUMENTS]
    findings = [finding for code in ran for finding in _guarded(chosen[code], context)]
    why = "one document by itself"
    return LintResult(
        tuple(sorted(findings, key=lambda finding: finding.order)),
        (),
        wanted,
        tuple(ran),
        {code: why for code in chosen if code not in ran},
        1,
        "" if checked.ok else checked.stage,
    )


def _document_of(path: Path) -> str:
    try:
        return document_of(path)
    except UsageError as error:
        hint = f"{error.hint}; or name the document: --document {'|'.join(DOCUMENTS)}"
        raise UsageError(error.message, hint=hint) from error


def unreadable_result(
    error: FormatError,
    *,
    profile: Profile | str = Profile.BASIC,
    select: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
) -> LintResult:
    """Return the faults of a text that is no document as findings; nothing else was looked at.

    Args:
        error: What `lint_artifact` or `lint_document` raised, with its problems.
        profile: How much was asked.
        select: Codes or families that were to be applied.
        ignore: Codes or families that were to be left out; `RRA001` is said all the same.

    Raises:
        UsageError: Unknown profile or code.
    """
    wanted = _profile(profile)
    chosen = _choose(wanted, select, ignore or ())
    rule = rules()[_BREAKS]
    found = rule().check(Context(Path(), None, error.problems, stage=error.stage))
    why = "the document cannot be read"
    return LintResult(
        tuple(sorted(found, key=lambda finding: finding.order)),
        (),
        wanted,
        (_BREAKS,),
        {code: why for code in chosen if code != _BREAKS},
        1,
        error.stage,
    )


def _profile(name: Profile | str) -> Profile:
    try:
        return Profile(name)
    except ValueError as error:
        hint = f"choose one of {', '.join(Profile)}"
        raise UsageError(f"there is no profile {name}", hint=hint) from error


def _choose(
    profile: Profile, select: Collection[str] | None, ignore: Collection[str]
) -> dict[str, type[Rule]]:
    """Return the rules to apply; a name that fits no rule is an error, not an empty run."""
    known = rules()
    for name in (*(select or ()), *ignore):
        if not any(code.startswith(name.upper()) for code in known):
            raise UsageError(f"there is no rule {name}", hint=f"the rules are {', '.join(known)}")
    selected = tuple(name.upper() for name in select or ())
    ignored = tuple(name.upper() for name in ignore)
    return {
        code: rule
        for code, rule in known.items()
        if (code.startswith(selected) if selected else profile.covers(rule.profile))
        if not code.startswith(ignored)
    }


def _open(root: Path, expected_guide: Callable[[Artifact], str | None] | None) -> Context:
    try:
        artifact = load_artifact(root)
    except FormatError as error:
        if error.stage == "yaml":
            raise
        folder = root.parent if root.is_file() else root
        return Context(folder, None, error.problems, stage=error.stage)
    return Context(artifact.root, artifact, artifact.warnings, expected_guide)


def _guarded(rule: type[Rule], context: Context) -> Iterator[Finding]:
    """Yield a rule's findings; when it raises, that is one more finding."""
    try:
        yield from rule().check(context)
    except RraError as error:
        what = f"{rule.code} ({rule.name}) could not look: {error.message}"
        yield Finding(INTERNAL, Severity.ERROR, what, MANIFEST, hint=error.hint)
    except Exception as error:  # a fault of one rule must not hide the others
        full = full_disk(error) if isinstance(error, OSError) else None
        if full is not None:
            raise full from error
        what = f"{rule.code} ({rule.name}) failed: {type(error).__name__}: {error}"
        hint = f"this is a fault of rra ({InternalError.slug}); please report it"
        yield Finding(INTERNAL, Severity.ERROR, what, MANIFEST, hint=hint)


def _unreadable(context: Context) -> Iterator[Finding]:
    for path, why in sorted(context.unreadable.items()):
        hint = "make the file readable, or take it out of the artifact"
        yield Finding(INTERNAL, Severity.ERROR, f"cannot be read: {why}", str(path), hint=hint)


def _suppress(findings: list[Finding], context: Context) -> tuple[list[Finding], list[Suppressed]]:
    """Split findings into those that stand and those that the artifact gives a reason for."""
    known = rules()
    suppressions = read_suppressions(context.document) if context.loaded else []
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    for finding in findings:
        allowed = finding.rule in known and known[finding.rule].suppressible
        reason = next((s.reason for s in suppressions if allowed and s.covers(finding)), None)
        if reason is None:
            kept.append(finding)
        else:
            suppressed.append(Suppressed(finding, reason))
    return kept, suppressed
