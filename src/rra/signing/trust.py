"""Whom a reader trusts with what: the part of a policy that decides about one signature."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rra._base import clock
from rra.signing.keys import PublicKey
from rra.signing.reading import plain
from rra.signing.statement import Statement


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """Who signed.

    Attributes:
        name: What the reader's policy calls the signer; the certificate's subject, or the
            fingerprint of the key, where it has no name there.
        fingerprint: ``sha256:<hex>`` of the public key; None for a certificate.
        subject: What the certificate was issued to, such as a mail address; None for a key.
        issuer: Who vouched for that subject; None for a key.
    """

    name: str
    fingerprint: str | None = None
    subject: str | None = None
    issuer: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the identity as plain JSON, what is not known left out."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value}


class SignatureState(enum.StrEnum):
    """What a signature came to.

    ``VALID`` means valid when signed: it fits a known key, or a certificate that was good at the
    time of signing. It does not mean that the signer is trusted, nor that what is said is true.
    """

    VALID = "valid"
    KEY_UNKNOWN = "key_unknown"
    INVALID = "invalid"
    UNSIGNED = "unsigned"


@dataclasses.dataclass(frozen=True, slots=True)
class Verification:
    """What became of one signature.

    Attributes:
        state: What the signature came to.
        identity: Who signed; only for ``VALID``.
        trusted: Whether the reader trusts that signer with this kind of statement.
        statement: What is stated. Nobody vouches for it unless the state is ``VALID``; None when
            it is ``INVALID``.
        reason: Why, in words.
        signed_at: When it was signed, by time evidence that was verified; None without any.
    """

    state: SignatureState
    identity: Identity | None = None
    trusted: bool = False
    statement: Statement | None = None
    reason: str = ""
    signed_at: dt.datetime | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the verification as plain JSON, without the statement's predicate."""
        return {
            "state": self.state.value,
            "identity": self.identity.to_json() if self.identity else None,
            "trusted": self.trusted,
            "predicate_type": self.statement.predicate_type if self.statement else None,
            "reason": self.reason,
            "signed_at": clock.iso(self.signed_at) if self.signed_at else None,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Signer:
    """One whom a reader trusts: a key, or an identity that an issuer vouches for.

    Attributes:
        name: What the reader calls the signer.
        predicates: Predicate types that the signer is trusted with; None for every one.
        key: The public key; None for an identity.
        subject: The certificate's subject, to the letter; None for a key.
        issuer: Who vouches for the subject, to the letter; None for a key.
    """

    name: str
    predicates: frozenset[str] | None
    key: PublicKey | None = None
    subject: str | None = None
    issuer: str | None = None

    def is_identity(self, identity: Identity) -> bool:
        """Tell whether this is the one that signed."""
        if self.key is not None:
            return identity.fingerprint == self.key.fingerprint
        return (
            self.subject is not None
            and self.issuer is not None
            and identity.fingerprint is None
            and (identity.subject, identity.issuer) == (self.subject, self.issuer)
        )

    def may_state(self, predicate_type: str) -> bool:
        """Tell whether the signer is trusted with this kind of statement."""
        return self.predicates is None or predicate_type in self.predicates


@dataclasses.dataclass(frozen=True, slots=True)
class Trust:
    """The signers whom a reader trusts; without any, nobody is.

    Attributes:
        signers: Each once.
        trusted_root: File with the certificates and log keys that keyless signatures are checked
            against, offline; None when the reader has none, and then no certificate is known.
    """

    signers: tuple[Signer, ...] = ()
    trusted_root: Path | None = None

    def find(self, identity: Identity) -> Signer | None:
        """Return the signer that this identity is."""
        return next((one for one in self.signers if one.is_identity(identity)), None)

    def trusts(self, identity: Identity, predicate_type: str) -> bool:
        """Tell whether somebody is trusted with a kind of statement."""
        signer = self.find(identity)
        return signer is not None and signer.may_state(predicate_type)


NOBODY = Trust()
"""The trust of a reader who has said nothing."""


def trust_keys(keys: Iterable[PublicKey]) -> Trust:
    """Trust these keys with every kind of statement, each named by its fingerprint."""
    unique = {key.fingerprint: key for key in keys}
    return Trust(tuple(Signer(name, None, key=key) for name, key in unique.items()))


def accepted(
    identity: Identity,
    statement: Statement,
    trust: Trust,
    signed_at: dt.datetime | None = None,
) -> Verification:
    """Return what a signature that fits comes to: trusted or not, and by which name."""
    signer = trust.find(identity)
    if signer is None:
        return Verification(
            SignatureState.VALID,
            identity,
            statement=statement,
            reason=f"valid when signed by {plain(identity.name)}, whom the policy does not name",
            signed_at=signed_at,
        )
    named = dataclasses.replace(identity, name=signer.name)
    trusted = signer.may_state(statement.predicate_type)
    reason = f"valid when signed by {signer.name}"
    if not trusted:
        reason += f", who is not trusted with {statement.predicate_type}"
    return Verification(SignatureState.VALID, named, trusted, statement, reason, signed_at)


def invalid(reason: str) -> Verification:
    """Return what a signature comes to that is malformed, about something else, or does not fit."""
    return Verification(SignatureState.INVALID, reason=reason)
