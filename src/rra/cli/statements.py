"""Statements as text: what a signature came to always stands beside what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rra.cli.text import table

if TYPE_CHECKING:
    from rra.registry.statements import AttachedStatement
    from rra.signing import RequirementResult

WORDS = {
    "valid": "valid when signed",
    "key_unknown": "key unknown",
    "invalid": "invalid",
    "unsigned": "unsigned",
}
_SHORT = 19


def trust_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--policy`` and ``--key``: whom the reader trusts."""
    file = click.Path(path_type=Path)
    key = click.option(
        "--key", "keys", multiple=True, type=file, help="Public key to trust with everything."
    )
    policy = click.option(
        "--policy", type=file, help="Policy file: whom to trust with what, what to require."
    )
    return policy(key(function))


def plain(text: str) -> str:
    """Return what somebody wrote as one line; see `rra.registry.statements.plain`."""
    from rra.registry import statements

    return statements.plain(text)


def plain_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are one line each, whatever somebody wrote."""
    return table(header, [[plain(cell) for cell in row] for row in rows])


def signature(statement: AttachedStatement) -> str:
    """Return what a signature came to, and whether the reader trusts it."""
    word = WORDS[statement.verification.state.value]
    if statement.verification.state.value != "valid":
        return word
    return f"{word}, {'trusted' if statement.verification.trusted else 'not trusted'}"


def signer(statement: AttachedStatement) -> str:
    """Return who signed, short enough for a table."""
    from rra.report.standing import signer_name

    name = signer_name(statement)
    return name[:_SHORT] if name.startswith("sha256:") else name


def statements_table(statements: Iterable[AttachedStatement]) -> str:
    """Return every statement with what its signature came to, and why it is not used."""
    rows = [
        (
            one.descriptor.digest[:_SHORT],
            one.kind or "other",
            signature(one),
            signer(one),
            one.why_not,
        )
        for one in statements
    ]
    return plain_table(("statement", "kind", "signature", "signed by", "not used because"), rows)


def requirement_lines(results: Iterable[RequirementResult]) -> list[str]:
    """Return a line for each requirement of the policy."""
    return [_requirement(one.to_json()) for one in results]


def _requirement(result: dict[str, Any]) -> str:
    kind = result["predicate_type"].rpartition("/")[2]
    by = f" by {', '.join(result['from'])}" if result["from"] else ""
    found = ", ".join(result["signers"]) or "none"
    met = "met" if result["met"] else "NOT MET"
    return f"policy  {result['count']} × {kind}{by}: {met} (found: {found})"
