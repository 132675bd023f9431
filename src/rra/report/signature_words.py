"""What each state of a signature means, and what to do next; `rra.report.words` shows it."""

from __future__ import annotations


def _state(word: str, meaning: str, what_next: str) -> tuple[str, str, str]:
    return word, meaning, what_next


SIGNATURES = (
    _state(
        "valid",
        "The signature fits a key that you know, or a certificate that was good at the time of "
        "signing. It shows that whoever holds the key said this about these bytes; neither that "
        "it is true, nor, for a key, when it was said.",
        "Look whether *trusted* stands beside it: that is for your policy to say.",
    ),
    _state(
        "key_unknown",
        "No key that you know fits the signature, and it names none that you know; or it has a "
        "certificate that cannot be checked here. It may be fine: nothing can be said.",
        "Get the signer's public key, compare its fingerprint with them (`rra key show`), and put "
        "it into your policy; for a certificate, name a `trusted_root` there.",
    ),
    _state(
        "invalid",
        "The signature names a key that you know and does not fit it, is about another bundle, or "
        "is malformed. The statement counts for nothing.",
        "Read the reason beside it, and ask the one who is named for the original.",
    ),
    _state(
        "unsigned",
        "Nobody has signed the statement. Whoever may write to the place may have written it.",
        "Ask its author to attach it again with `rra attach --sign`.",
    ),
)
"""Each state, its meaning, and what to do."""
