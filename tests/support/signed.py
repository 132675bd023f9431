"""Documents about a small bundle, keys to sign them with, and what a reader makes of them."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rra.bundle.layout import LayoutStore
from rra.bundle.reader import Bundle, read_bundle
from rra.bundle.store import Descriptor
from rra.registry.attaching import attach_statement, signed_by, unsigned
from rra.registry.statements import AttachedStatement, author_statement, read_statements
from rra.report.standing import Standing
from rra.signing import (
    NOBODY,
    Policy,
    PrivateKey,
    Requirement,
    Signer,
    Trust,
    generate,
    predicate_type,
)
from tests.support.bundles import locked_artifact, pack

CORPUS = Path(__file__).resolve().parents[2] / "schemas/conformance/v1/valid"
AUTHOR, LAB, OTHER, STRANGER = (generate() for _ in range(4))
NAMES = {"author": AUTHOR, "lab": LAB, "other": OTHER}


def case(kind: str, name: str, /, **changes: Any) -> dict[str, Any]:
    """Return a document of the corpus, with other values at its top."""
    found: dict[str, Any] = json.loads((CORPUS / kind / name / f"{kind}.json").read_bytes())
    return {**found, **changes}


@dataclasses.dataclass(frozen=True)
class Desk:
    """A bundle in a layout, and what can be said about it."""

    layout: Path

    @property
    def reference(self) -> str:
        return f"oci-layout:{self.layout}"

    @property
    def store(self) -> LayoutStore:
        return LayoutStore(self.layout)

    @property
    def bundle(self) -> Bundle:
        return read_bundle(self.store)

    def document(self, kind: str, name: str = "smallest", /, **changes: Any) -> dict[str, Any]:
        """Return a valid document about the bundle."""
        core = self.bundle.config.core
        made = case(kind, name, **{"core": core, **changes})
        if kind == "reproduction":
            made["plan"] = {**made["plan"], "core": core}
        return made

    def attempt(self, number: int, of: int, name: str = "smallest") -> dict[str, Any]:
        """Return a reproduction that is one of several attempts."""
        made = copy.deepcopy(self.document("reproduction", name, attempts=of))
        made["plan"] |= {"attempt": number}
        return made

    def attach(
        self, kind: str, document: dict[str, Any] | None = None, key: PrivateKey | None = None
    ) -> Descriptor:
        """Attach a document as it is, without looking whether it is valid."""
        said = document if document is not None else self.document(kind)
        made = signed_by(key, kind, said, self.bundle) if key else unsigned(kind, said)
        return attach_statement(self.store, self.bundle, made)

    def sign(self, key: PrivateKey = AUTHOR) -> Descriptor:
        """Sign the bundle as its author does."""
        return self.attach("bundle", author_statement(self.bundle), key)

    def read(self, trust: Trust = NOBODY) -> tuple[AttachedStatement, ...]:
        """Read what is attached."""
        return read_statements(self.store, self.bundle, trust)

    def standing(self, policy: Policy) -> Standing:
        """Return what the statements come to."""
        return Standing(self.read(policy.trust), policy)


def policy(
    predicates: Mapping[str, list[str] | None], *, require: tuple[Requirement, ...] = ()
) -> Policy:
    """Trust some of `NAMES` with these predicates; None for all."""
    signers = tuple(
        Signer(
            name,
            None if kinds is None else frozenset(map(predicate_type, kinds)),
            key=NAMES[name].public,
        )
        for name, kinds in predicates.items()
    )
    return Policy(Trust(signers), require)


def desk(folder: Path) -> Desk:
    """Make a small bundle."""
    pack(locked_artifact(folder / "artifact"), folder / "bundle", "1.0.0")
    return Desk(folder / "bundle")
