"""Signing a statement with a key, and what a signature comes to for a reader."""

from __future__ import annotations

from rra.errors import FormatError
from rra.signing.dsse import Envelope, pae
from rra.signing.keyless import verify_certificate
from rra.signing.keys import PrivateKey
from rra.signing.names import PAYLOAD_TYPE
from rra.signing.reading import shown
from rra.signing.sigstore_bundle import MAX_BYTES, SigstoreBundle, hint_of, parse_bundle
from rra.signing.statement import Statement
from rra.signing.trust import Identity, SignatureState, Trust, Verification, accepted, invalid


def sign(statement: Statement, key: PrivateKey) -> bytes:
    """Sign a statement.

    Returns:
        A Sigstore bundle v0.3 as JSON: the same bytes for the same statement and key.

    Raises:
        FormatError: It would be larger than readers read.
    """
    payload = statement.to_bytes()
    envelope = Envelope(PAYLOAD_TYPE, payload, key.sign(pae(PAYLOAD_TYPE, payload)))
    made = SigstoreBundle(envelope, hint_of(key.public.fingerprint)).to_bytes()
    if len(made) > MAX_BYTES:
        raise FormatError(
            f"signed, this would have {len(made)} bytes, more than the {MAX_BYTES} that are read",
            hint="leave out what can be looked up elsewhere, such as long outputs",
        )
    return made


def verify(data: bytes, *, subject: str, trust: Trust) -> Verification:
    """Say what a signature comes to; nothing that is in the data makes it raise.

    A hint that names a known key decides which key is tried. Without one every known key is
    tried, since a hint is not signed and may be wrong or absent. A key is used only with the
    algorithm it was made for.

    Args:
        data: A Sigstore bundle, from anybody.
        subject: ``sha256:<hex>`` of what the statement has to be about.
        trust: Whom the reader trusts.

    Raises:
        FormatError: The trusted root of `trust` cannot be used; that is not in the data.
    """
    try:
        bundle = parse_bundle(data)
        statement = bundle.statement()
    except FormatError as error:
        return invalid(error.message)
    if not statement.is_about(subject):
        named = next((name for one in statement.subject for name in one.digest.values()), "")
        return invalid(f"the statement is about {shown(named)}, not about {subject}")
    if bundle.has_certificate:
        return verify_certificate(data, bundle, statement, trust)
    return _by_key(bundle, statement, trust)


def _by_key(bundle: SigstoreBundle, statement: Statement, trust: Trust) -> Verification:
    keys = {one.key.fingerprint: one.key for one in trust.signers if one.key is not None}
    hinted = keys.get(bundle.hinted_fingerprint or "")
    envelope = bundle.envelope
    for key in [hinted] if hinted else keys.values():
        if key.fits(envelope.signature, envelope.signed):
            return accepted(
                Identity(key.fingerprint, fingerprint=key.fingerprint), statement, trust
            )
    if hinted:
        return invalid(f"the signature does not fit the key {hinted.fingerprint} that it names")
    called = bundle.hinted_fingerprint or (shown(bundle.hint) if bundle.hint else "no key")
    reason = f"no known key fits; the signature names {called}"
    return Verification(SignatureState.KEY_UNKNOWN, statement=statement, reason=reason)
