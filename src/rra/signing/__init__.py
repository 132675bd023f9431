"""Signed statements about artifacts: keys, signatures, and whom a reader trusts.

A statement is an in-toto Statement in a DSSE envelope in a Sigstore bundle v0.3: the form that
cosign and other tools of that family write and read. `sign` makes one with a key; `verify` says
what one comes to for a reader whose `Trust` comes from `load_policy` or `trust_keys`.
"""

from __future__ import annotations

from rra.signing.keys import (
    Algorithm,
    PrivateKey,
    PublicKey,
    generate,
    read_private_key,
    read_public_key,
    write_key_pair,
)
from rra.signing.names import (
    BUNDLE_MEDIA_TYPE,
    CONTENT_ANNOTATION,
    CONTENT_DSSE,
    KINDS,
    PAYLOAD_TYPE,
    PREDICATE_ANNOTATION,
    kind_of,
    predicate_type,
)
from rra.signing.policy import Policy, Requirement, RequirementResult, load_policy
from rra.signing.sigstore_bundle import SigstoreBundle, parse_bundle
from rra.signing.statement import Statement, Subject, parse_statement
from rra.signing.trust import (
    NOBODY,
    Identity,
    SignatureState,
    Signer,
    Trust,
    Verification,
    trust_keys,
)
from rra.signing.verify import sign, verify

__all__ = [
    "BUNDLE_MEDIA_TYPE",
    "CONTENT_ANNOTATION",
    "CONTENT_DSSE",
    "KINDS",
    "NOBODY",
    "PAYLOAD_TYPE",
    "PREDICATE_ANNOTATION",
    "Algorithm",
    "Identity",
    "Policy",
    "PrivateKey",
    "PublicKey",
    "Requirement",
    "RequirementResult",
    "SignatureState",
    "Signer",
    "SigstoreBundle",
    "Statement",
    "Subject",
    "Trust",
    "Verification",
    "generate",
    "kind_of",
    "load_policy",
    "parse_bundle",
    "parse_statement",
    "predicate_type",
    "read_private_key",
    "read_public_key",
    "sign",
    "trust_keys",
    "verify",
    "write_key_pair",
]
