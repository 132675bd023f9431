"""Bundles in registries: transport over HTTP, verified and streamed, with a login that stays.

`open_store` gives the repository of a reference as a `rra.bundle.store.BlobStore`;
`transfer` copies a bundle between any two stores; `fetched` brings blobs here ahead of their use.
"""

from __future__ import annotations

from rra.registry.connect import Connections, open_store, reach
from rra.registry.credentials import Credential, find_credential
from rra.registry.download import open_download
from rra.registry.fetch import fetched
from rra.registry.policy import Policy
from rra.registry.store import RegistryStore
from rra.registry.transfer import BlobCopy, TransferResult, transfer

__all__ = [
    "BlobCopy",
    "Connections",
    "Credential",
    "Policy",
    "RegistryStore",
    "TransferResult",
    "fetched",
    "find_credential",
    "open_download",
    "open_store",
    "reach",
    "transfer",
]
