"""The garbage collector of Python, kept away from what will not become garbage."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """Keep what there is now out of the collector's way while a block makes many objects.

    Modules and documents would be looked through again each time that many objects were made,
    and found to be in use. A caller that has frozen objects of its own is left alone.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
