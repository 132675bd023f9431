"""How much room there is for what is brought here, said before it begins."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base.progress import size_text
from rra.api._result import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rra.bundle.unpack import Layer


def say_room(layers: Sequence[Layer], target: Path, progress: Progress, *, unpacked: bool) -> None:
    """Say how much comes, how large it is then, and how much is free, if anybody can say that.

    It is said and not insisted on: a part may be here already, and a disk may compress files.

    Args:
        layers: What will be brought.
        target: Where it goes; it need not be there yet.
        progress: Called with one line.
        unpacked: Whether its files are unpacked there, or the blobs are kept as they are.
    """
    blobs = {layer.descriptor.digest: layer.descriptor.size for layer, _ in layers}
    come, files = sum(blobs.values()), sum(record.uncompressed_size for _, record in layers)
    free = _free_bytes(target)
    if free is None:
        return
    sizes = f"{size_text(come)} to bring" + (f", {size_text(files)} of files" if unpacked else "")
    short = " (that may be too little)" if (files if unpacked else come) > free else ""
    progress(f"{sizes}; {size_text(free)} free where {target} will be{short}")


def _free_bytes(target: Path) -> int | None:
    place = Path(os.path.realpath(target))
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None
