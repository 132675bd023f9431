"""Accelerators of this machine: what is let through, and which a launcher has for itself."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

_DEV, _NVIDIA = Path("/dev"), Path("/proc/driver/nvidia/gpus")
_DEVICES = ("nvidia*", "dri", "kfd")
_CARD = re.compile(r"nvidia(\d+)")
_FACT = re.compile(r"^(GPU UUID|Device Minor):\s*(\S+)$", re.MULTILINE)
_VARIABLES = {"nvidia": "CUDA_VISIBLE_DEVICES", "amd": "ROCR_VISIBLE_DEVICES"}


@dataclasses.dataclass(frozen=True, slots=True)
class Gpu:
    """One card.

    Attributes:
        vendor: Whose.
        number: Its place among those of this vendor.
        node: Its device.
        uuid: The name that its driver gives it, where that is known.
    """

    vendor: Literal["nvidia", "amd"]
    number: int
    node: Path
    uuid: str = ""


def accelerators() -> list[Path]:
    """Return the devices of accelerators, where there are any."""
    return [path for pattern in _DEVICES for path in sorted(_DEV.glob(pattern))]


def gpus(env: Mapping[str, str] = os.environ) -> list[Gpu]:
    """Return the cards that we may use, those that whoever started us keeps from us left out.

    Args:
        env: Our variables: a cluster says in ``CUDA_VISIBLE_DEVICES`` or ``ROCR_VISIBLE_DEVICES``
            which cards a job has.
    """
    names = _uuids()
    numbers = sorted(
        int(m[1]) for path in _DEV.glob("nvidia*") if (m := _CARD.fullmatch(path.name))
    )
    found = [
        Gpu("nvidia", number, _DEV / f"nvidia{number}", names.get(number, "")) for number in numbers
    ]
    if not found and (_DEV / "kfd").exists():
        nodes = sorted((_DEV / "dri").glob("renderD*"), key=lambda path: int(path.name[7:] or 0))
        found = [Gpu("amd", number, node) for number, node in enumerate(nodes)]
    allowed = env.get(_VARIABLES[found[0].vendor]) if found else None
    return found if allowed is None else list(_allowed(found, allowed))


def _uuids() -> dict[int, str]:
    """Return the names of NVIDIA's cards by the numbers of their devices, as the driver says."""
    found = {}
    for path in _NVIDIA.glob("*/information"):
        facts = dict(_FACT.findall(path.read_text("utf-8", "replace")))
        if facts.keys() == {"GPU UUID", "Device Minor"} and facts["Device Minor"].isdigit():
            found[int(facts["Device Minor"])] = facts["GPU UUID"]
    return found


def _allowed(found: Sequence[Gpu], words: str) -> dict[Gpu, None]:
    """Return the cards that a list of numbers and names gives; what is no card ends the list."""
    chosen: dict[Gpu, None] = {}
    for word in (part.strip() for part in words.split(",")):
        fits = [
            one
            for one in found
            if word == str(one.number) or (word.startswith("GPU-") and one.uuid.startswith(word))
        ]
        if len(fits) != 1:
            break
        chosen[fits[0]] = None
    return chosen


def shown(own: Sequence[Gpu] | None) -> list[Path]:
    """Return the devices that a launcher is shown.

    The other cards of NVIDIA are left out where the driver names all of them, since those that are
    left have new numbers inside; else the variables alone tell cards apart.

    Args:
        own: Its cards; None for all.
    """
    every = accelerators()
    if own is None or not all(one.uuid for one in own):
        return every
    nodes = {one.node for one in own}
    return [path for path in every if not _CARD.fullmatch(path.name) or path in nodes]


def selection(own: Sequence[Gpu] | None) -> dict[str, str]:
    """Return the variables by which libraries take a launcher's own cards; none for all cards."""
    if not own:
        return {}
    vendor = own[0].vendor
    named = vendor == "nvidia" and all(one.uuid for one in own)
    words = [one.uuid if named else str(one.number) for one in own]
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"} if vendor == "nvidia" else {}
    return {_VARIABLES[vendor]: ",".join(words), **order}
