"""What verbs that look at statements have in common: whom the reader trusts, and notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rra.errors import Problem, RraError, UsageError

if TYPE_CHECKING:
    from rra.bundle.reader import Bundle
    from rra.bundle.store import BlobStore
    from rra.registry.statements import AttachedStatement
    from rra.report.standing import Standing
    from rra.signing import Policy

CLAUSE = "notice/shown"
_SHOWN = 400


def read_policy(policy: Path | None, keys: Sequence[Path]) -> Policy:
    """Return what the reader trusts: a policy file, or public keys; nobody without either.

    Raises:
        UsageError: Both are given, or a file cannot be read.
        FormatError: A file is no policy, or no key.
    """
    from rra.signing import Policy, load_policy, read_public_key, trust_keys

    if policy is not None and keys:
        hint = "name the keys in the policy, or leave the policy out"
        raise UsageError("a policy and single keys were both given", hint=hint)
    if policy is not None:
        return load_policy(policy)
    return Policy(trust_keys(read_public_key(path) for path in keys))


def standing_of(store: BlobStore, bundle: Bundle, policy: Policy) -> Standing:
    """Return what the statements on a bundle come to for a reader.

    Raises:
        RegistryError: The registry does not answer, or with an error.
        UnavailableError: There are more statements than can be read.
        CorruptError: The list of statements is not what vouches for it.
    """
    from rra.registry.statements import read_statements
    from rra.report.standing import Standing

    return Standing(read_statements(store, bundle, policy.trust), policy)


def notices_of(store: BlobStore, bundle: Bundle) -> tuple[Problem, ...]:
    """Return the notices on a bundle as warnings; never raises for what a place does or holds.

    Whoever opens a bundle is told what was said about it, by whom, and that nobody vouches for
    what is not signed. A place that cannot be asked is a warning too.

    Args:
        store: Where the bundle is.
        bundle: The bundle.
    """
    digest = bundle.descriptor.digest
    try:
        if not store.referrers(digest):
            return ()
        # Imported only where something is attached: it brings the client of registries.
        from rra.registry.statements import read_statements
        from rra.signing import NOBODY

        found = read_statements(store, bundle, NOBODY, kinds=("notice",))
    except RraError as error:
        message = f"could not be asked for notices: {error.message}"
        hint = "the bundle is used all the same; ask again with rra status"
        return (Problem(message, store.name, clause=CLAUSE, hint=hint, severity="warning"),)
    # The newest first: a later notice says what is so now.
    usable = sorted(
        (one for one in found if one.usable and one.document is not None),
        key=lambda one: str((one.document or {}).get("issued")),
        reverse=True,
    )
    return tuple(_warning(one, store.name) for one in usable)


def _warning(statement: AttachedStatement, where: str) -> Problem:
    from rra.registry.statements import plain

    document = statement.document or {}
    what = {"withdrawn": "withdrawn", "superseded": "superseded", "embargo": "under embargo"}
    message = f"{document['artifact']} {document['version']} is {what[document['kind']]}"
    if "until" in document:
        message += f" until {document['until']}"
    if "superseded_by" in document:
        message += f" by {document['superseded_by']['reference']}"
    message += f": {document['reason']}"
    if len(message) > _SHOWN:
        message = message[: _SHOWN - 1] + "…"
    message += f" ({document['issued'][:16].replace('T', ' ')} UTC, {_signed(statement)})"
    hint = "see who says so: rra status, with --policy or --key"
    return Problem(plain(message), where, clause=CLAUSE, hint=hint, severity="warning")


def _signed(statement: AttachedStatement) -> str:
    from rra.signing import SignatureState

    if statement.verification.state is SignatureState.UNSIGNED:
        return "not signed: anybody may have written it"
    key = f" {statement.claimed}" if statement.claimed else ""
    return f"signed with a key that is not known here{key}"
