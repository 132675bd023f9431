"""Bundles in registries: transport over HTTP, verified and streamed, with a login that stays.

`open_store` gives the repository of a reference as a `rra.bundle.store.BlobStore`;
`rra.registry.transfer` copies a bundle between any two stores; `fetched` brings blobs here ahead
of their use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rra._base.lazy import lazy_names

if TYPE_CHECKING:
    from rra.registry.connect import Connections, open_store, reach
    from rra.registry.credentials import Credential, find_credential
    from rra.registry.download import (
        cached_file,
        downloaded,
        first_download,
        landing,
        open_download,
    )
    from rra.registry.fetch import fetched
    from rra.registry.policy import Policy
    from rra.registry.store import RegistryStore
    from rra.registry.transfer import BlobCopy, TransferResult

__all__ = [
    "BlobCopy",
    "Connections",
    "Credential",
    "Policy",
    "RegistryStore",
    "TransferResult",
    "cached_file",
    "downloaded",
    "fetched",
    "find_credential",
    "first_download",
    "landing",
    "open_download",
    "open_store",
    "reach",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "connect": (
            "Connections",
            "open_store",
            "reach",
        ),
        "credentials": (
            "Credential",
            "find_credential",
        ),
        "download": ("cached_file", "downloaded", "first_download", "landing", "open_download"),
        "fetch": ("fetched",),
        "policy": ("Policy",),
        "store": ("RegistryStore",),
        "transfer": (
            "BlobCopy",
            "TransferResult",
        ),
    },
)
