"""Texts as the ids of the format: lower-case letters, digits and hyphens."""

from __future__ import annotations

import re
import unicodedata


def slug_of(text: str) -> str:
    """Return the letters and digits of a text, joined by single hyphens; empty if it has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
