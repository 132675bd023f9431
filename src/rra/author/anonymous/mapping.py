"""The private file by which authors can show, later, that two artifacts are one."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

from rra._base.files import STAGING_PREFIX, storage_errors
from rra.author.anonymous.copy import AnonymousCopy, AnonymousOptions

TYPE = "anonymous-mapping/v1"
_SUFFIX = ".private.json"
_SAYS = (
    "PRIVATE: names the authors of an anonymous bundle. Keep it; give it to nobody before the "
    "review is over. Packing the artifact again with the same options gives the same digest."
)


def mapping_document(
    copy: AnonymousCopy, options: AnonymousOptions, *, digest: str
) -> dict[str, Any]:
    """Return what was replaced by what, and both identities of the artifact.

    Args:
        copy: The anonymous copy.
        options: What its author said.
        digest: Digest of the manifest of the anonymous bundle.
    """
    return {
        "type": TYPE,
        "about": _SAYS,
        "original": {"core": copy.before},
        "anonymous": {"core": copy.core, "digest": digest},
        "options": {
            "also": list(options.also),
            "keep": list(options.keep),
            "keep_paper": options.keep_paper,
        },
        "replaced": [
            {
                "text": one.text,
                "kind": str(one.kind),
                "by": one.neutral,
                "source": one.source,
            }
            for one in sorted(copy.identifiers, key=lambda one: (one.kind, one.text))
            if one.replaced
        ],
        "files": dict(sorted(copy.files.items())),
        "records": [
            {"launcher": one.launcher, "before": one.before, "after": one.after}
            for one in copy.records
        ],
    }


def write_mapping(place: Path, document: dict[str, Any]) -> Path:
    """Write the mapping so that nobody but its owner can read it.

    A file of that name with anything else in it stays: it says what made another bundle.

    Returns:
        The file: of the name that was given, or one with the digest of the bundle in it.

    Raises:
        StorageError: The disk is full or refuses.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    with storage_errors(place):
        if place.exists() and place.read_bytes() != text.encode():
            stem = place.name.removesuffix(_SUFFIX)
            digest = document["anonymous"]["digest"].removeprefix("sha256:")
            place = place.with_name(f"{stem}-{digest[:12]}{_SUFFIX}")
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.parent / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
    return place
