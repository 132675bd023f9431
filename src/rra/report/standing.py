"""How a bundle stands: what the statements on it come to for one reader.

Nothing here raises a level by itself: a level belongs to a reproduction and to whoever signed it
(spec, levels). What nobody signed, or nobody knows who signed, is listed and never counted.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rra.registry.statements import AUTHORS, AttachedStatement
from rra.signing import Policy, RequirementResult, SignatureState, predicate_type

ANSWERS = ("pass", "fail", "inconclusive", "not_assessed")
REVIEW_WORDS = ("supported", "refuted", "unsupported")

_ORDER = ("none", "L0", "L1", "L2", "L3", "L4")
_FINE_VALUES = {"SUPPORTED", "SUPPORTED_DERIVED", "NOT_ASSESSED"}
_SCORES = (
    "outcome", "type", "reported", "unit", "values", "mean", "centre", "half_width", "interval",
    "agreement", "repeatability", "verdict", "label",
)  # fmt: skip
_MACHINE = ("os", "machine", "cpu", "gpu")


@dataclasses.dataclass(frozen=True, slots=True)
class Reached:
    """The highest level that one group of signers gives.

    Attributes:
        level: ``L0`` to ``L4``, or ``none``.
        coverage: What it speaks of.
        signer: Who signed that reproduction.
    """

    level: str
    coverage: str
    signer: str

    def to_json(self) -> dict[str, str]:
        """Return it as plain JSON."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """What the statements on a bundle come to.

    Attributes:
        statements: All that is attached.
        policy: The reader's.
    """

    statements: tuple[AttachedStatement, ...]
    policy: Policy

    def of(self, kind: str) -> list[AttachedStatement]:
        """Return the usable statements of a kind, whoever signed them; the newest last."""
        found = [one for one in self.statements if one.kind == kind and one.usable]
        return sorted(found, key=lambda one: (moment_of(one), one.descriptor.digest))

    @property
    def set_aside(self) -> list[AttachedStatement]:
        """What is not used, each with its reason."""
        return [one for one in self.statements if not one.usable]

    @property
    def levels(self) -> dict[str, Reached | None]:
        """The highest level by signers who are trusted, known but not trusted, and not known."""
        groups: dict[str, list[AttachedStatement]] = {group: [] for group in _GROUPS}
        for one in self.of("reproduction"):
            group = group_of(one)
            if group is not None:
                groups[group].append(one)
        return {group: self._highest(found) for group, found in groups.items()}

    def level_of(self, statement: AttachedStatement) -> str:
        """Return the level of a reproduction: L4 for one that the policy lets count as such."""
        said = str(document_of(statement)["level"])
        return "L4" if said == "L3" and self.is_independent(statement) else said

    def is_independent(self, statement: AttachedStatement) -> bool:
        """Tell whether a statement is by somebody trusted who did not sign the bundle.

        Whoever the policy trusts with signing bundles may be the author: of them it has to be
        shown that somebody else signed this bundle, since a signature can be withheld.
        """
        if not statement.counts:
            return False
        authors = {
            one.signer for one in self.of(AUTHORS)
            if one.verification.state is SignatureState.VALID
        }  # fmt: skip
        if statement.signer in authors:
            return False
        others = {one.signer for one in self.of(AUTHORS) if one.counts}
        identity = statement.verification.identity
        may_be_author = identity is not None and self.policy.trusts(
            identity, predicate_type(AUTHORS)
        )
        return bool(others) or not may_be_author

    @property
    def independent(self) -> int:
        """How many different signers reproduced it independently (L4)."""
        return len({
            one.signer for one in self.of("reproduction") if self.level_of(one) == "L4"
        })  # fmt: skip

    @property
    def requirements(self) -> tuple[RequirementResult, ...]:
        """What the policy asks for, and whether it is there; only what speaks for the bundle."""
        return requirements(self.policy, self.statements)

    @property
    def met(self) -> bool:
        """Whether every requirement of the policy is met."""
        return all(one.met for one in self.requirements)

    def _highest(self, found: Sequence[AttachedStatement]) -> Reached | None:
        best = max(found, key=lambda one: _ORDER.index(self.level_of(one)), default=None)
        if best is None:
            return None
        return Reached(self.level_of(best), str(document_of(best)["coverage"]), signer_name(best))


_GROUPS = ("trusted", "untrusted", "unknown")


def group_of(statement: AttachedStatement) -> str | None:
    """Return which group of signers a statement belongs to; None for what nobody signed."""
    if statement.verification.trusted:
        return "trusted"
    states = {SignatureState.VALID: "untrusted", SignatureState.KEY_UNKNOWN: "unknown"}
    return states.get(statement.verification.state)


def requirements(
    policy: Policy, statements: Iterable[AttachedStatement]
) -> tuple[RequirementResult, ...]:
    """Say for each requirement of a policy whether the statements on a bundle meet it.

    A reproduction counts from L3 up, a review that refutes nothing, an audit that supports every
    value: a requirement is for what speaks for a bundle.
    """
    return policy.requirements(one.verification for one in statements if in_favour(one))


def in_favour(statement: AttachedStatement) -> bool:
    """Tell whether a usable statement speaks for the bundle."""
    if not statement.usable:
        return False
    document = document_of(statement)
    match statement.kind:
        case "reproduction":
            return bool(document["level"] == "L3")
        case "review":
            words = {entry["verdict"] for entry in _entries(document)}
            return "supported" in words and "refuted" not in words
        case "audit":
            found = {value["verdict"] for value in document["values"]}
            return found <= _FINE_VALUES and bool(found - {"NOT_ASSESSED"})
    return True


def signer_name(statement: AttachedStatement) -> str:
    """Return who signed, for people: by the reader's name, by key, or that nobody knows."""
    identity = statement.verification.identity
    if identity is not None:
        return identity.name
    if statement.verification.state is SignatureState.UNSIGNED:
        return "nobody"
    key = f" (says {statement.claimed[:19]}…)" if statement.claimed else ""
    return f"unknown{key}"


def moment_of(statement: AttachedStatement) -> str:
    """Return when a statement says that it was made; empty where it does not say."""
    document = statement.document or {}
    return str(document.get("ended") or document.get("issued") or "")


def document_of(statement: AttachedStatement) -> Mapping[str, Any]:
    """Return the document of a usable statement; empty where there is none."""
    return statement.document if statement.document is not None else {}


# ------------------------------------------------------------------------------- plain JSON


def statement_json(statement: AttachedStatement) -> dict[str, Any]:
    """Return who says something, and what the signature came to, as plain JSON."""
    shown = statement.verification.to_json()
    del shown["predicate_type"]
    return {
        "digest": statement.descriptor.digest,
        "artifact_type": statement.descriptor.artifact_type,
        "kind": statement.kind,
        **shown,
        "claimed_key": statement.claimed,
        "belongs": statement.belongs,
        "usable": statement.usable,
        "why_not": statement.why_not or None,
    }


def reproduction_json(standing: Standing, statement: AttachedStatement) -> dict[str, Any]:
    """Return a reproduction with its scores as plain JSON, without traces and runs."""
    document = document_of(statement)
    outcomes, machine = document["outcomes"], document["machine"]
    return {
        "statement": statement_json(statement),
        "verdict": document["verdict"],
        "level": standing.level_of(statement),
        "coverage": document["coverage"],
        "agreement": _counts((one["agreement"] for one in outcomes), ANSWERS),
        "repeatability": _counts((one["repeatability"] for one in outcomes), ANSWERS),
        "attempt": document["plan"]["attempt"],
        "attempts": document["attempts"],
        "started": document["started"],
        "ended": document["ended"],
        "machine": {key: machine[key] for key in _MACHINE if key in machine},
        "outcomes": [{key: one[key] for key in _SCORES if key in one} for one in outcomes],
    }


def review_json(statement: AttachedStatement) -> dict[str, Any]:
    """Return what a review comes to as plain JSON."""
    document = document_of(statement)
    said = document["independence"]
    return {
        "statement": statement_json(statement),
        "reviewer": document["reviewer"],
        "verdicts": _counts((entry["verdict"] for entry in _entries(document)), REVIEW_WORDS),
        "independent": not (said["took_part"] or said["saw_builder"]),
        "ended": document["ended"],
    }


def audit_json(statement: AttachedStatement) -> dict[str, Any]:
    """Return what an audit comes to as plain JSON."""
    document = document_of(statement)
    return {
        "statement": statement_json(statement),
        "rerun": document["rerun"],
        "verdicts": dict(collections.Counter(one["verdict"] for one in document["values"])),
        "ended": document["ended"],
    }


def notice_json(statement: AttachedStatement) -> dict[str, Any]:
    """Return a notice as plain JSON."""
    keys = ("kind", "reason", "issued", "issuer", "superseded_by", "until")
    document = document_of(statement)
    return {
        "statement": statement_json(statement),
        **{key: document[key] for key in keys if key in document},
    }


def _entries(review: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    sections = ("claims", "settings", "repairs", "guide")
    return [entry for section in sections for entry in review.get(section, ())]


def _counts(words: Iterable[str], order: Sequence[str]) -> dict[str, int]:
    found = collections.Counter(words)
    return {word: found[word] for word in order}
