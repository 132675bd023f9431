"""The base of all lint rules: one class, one page, one file."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from rra.lint.finding import Finding, Fix, Profile, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rra._base.yaml import Key, YamlDocument
    from rra.lint.context import Context, TextFile

SECTIONS = ("What it does", "Why is this bad?", "How to fix", "Example")
"""Headings that the docstring of every rule has, in this order."""

_REGISTRY: dict[str, type[Rule]] = {}


class Rule:
    """One check; its docstring is its page.

    A rule gets everything from the `Context`: it opens no file, starts no process and
    imports no other rule.

    Attributes:
        code: ``RRA`` and three digits; the first digit is the family.
        name: Short name with hyphens.
        severity: Weight of its findings, unless a finding says otherwise.
        profile: Smallest profile that contains the rule.
        fix: Whether its findings can be corrected without a person.
        since: Version of `rra` that brought it.
        clause: Clause of the specification that it checks; empty for what is about lint itself.
        needs_artifact: Whether it needs a manifest that could be read.
        suppressible: Whether an artifact may ask to overlook its findings.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    profile: ClassVar[Profile]
    fix: ClassVar[Fix] = Fix.NONE
    since: ClassVar[str]
    clause: ClassVar[str]
    needs_artifact: ClassVar[bool] = True
    suppressible: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register the rule; a rule without its attributes or its page is refused.

        Raises:
            TypeError: An attribute or a section of the page is missing, or the code is taken.
        """
        super().__init_subclass__(**kwargs)
        for attribute in ("code", "name", "severity", "profile", "since", "clause"):
            if not hasattr(cls, attribute):
                raise TypeError(f"rule {cls.__qualname__} lacks {attribute}")
        if not re.fullmatch(r"RRA\d{3}", cls.code):
            raise TypeError(f"{cls.code!r} is not RRA and three digits")
        page = inspect.getdoc(cls) or ""
        missing = [section for section in SECTIONS if f"\n## {section}\n" not in page]
        if missing:
            raise TypeError(f"the page of {cls.code} lacks the sections {', '.join(missing)}")
        taken = _REGISTRY.get(cls.code)
        if taken is not None and taken.__qualname__ != cls.__qualname__:
            raise TypeError(f"{cls.code} is the code of {taken.__qualname__} already")
        _REGISTRY[cls.code] = cls

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield what the rule objects to in an artifact."""
        raise NotImplementedError

    def unavailable(self, context: Context) -> str:
        """Return why the rule cannot run on this artifact, or an empty string."""
        if self.needs_artifact and context.loaded is None:
            return "the manifest cannot be used"
        return ""

    def in_document(
        self,
        document: YamlDocument,
        path: Sequence[Key],
        message: str,
        *,
        hint: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding at a value of a YAML document."""
        problem = document.problem(path, message)
        return Finding(
            self.code,
            severity or self.severity,
            message,
            problem.path,
            problem.line,
            problem.column,
            problem.pointer,
            hint,
            self.clause,
        )

    def in_text(
        self,
        file: TextFile,
        offset: int,
        message: str,
        *,
        hint: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding at a character of a text file."""
        line, column = file.position(offset)
        return Finding(
            self.code,
            severity or self.severity,
            message,
            str(file.path),
            line,
            column,
            hint=hint,
            clause=self.clause,
        )

    def at(
        self,
        path: object,
        message: str,
        *,
        line: int | None = None,
        hint: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding about a whole file, or a line of it."""
        return Finding(
            self.code,
            severity or self.severity,
            message,
            str(path),
            line,
            hint=hint,
            clause=self.clause,
        )


def rules() -> dict[str, type[Rule]]:
    """Return all rules by code."""
    package = importlib.import_module("rra.lint.rules")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return {code: rule for code, rule in sorted(_REGISTRY.items()) if _is_shipped(rule)}


def _is_shipped(rule: type[Rule]) -> bool:
    return rule.__module__.startswith("rra.lint.rules.")
