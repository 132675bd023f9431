"""The facts of one Python file."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from pathlib import PurePosixPath

from rra.scan.traits.devices import find_devices, text_devices
from rra.scan.traits.downloads import python_downloads, text_downloads
from rra.scan.traits.objects import Device, Download, Seed
from rra.scan.traits.randomness import find_seeds, text_seeds
from rra.scan.traits.syntax import VersionClue, text_clues, tree_clues


@dataclasses.dataclass(frozen=True, slots=True)
class CodeTraits:
    """Facts of one Python file.

    Attributes:
        downloads: What it brings from elsewhere.
        seeds: Calls that fix randomness.
        draws: Calls that draw from a generator of a whole process, or make one without a seed.
        devices: Places that ask for an accelerator.
        looks_for_gpu: Whether it looks if there is one.
        versions: Constructs that some versions of Python do not have.
    """

    downloads: tuple[Download, ...] = ()
    seeds: tuple[Seed, ...] = ()
    draws: tuple[Seed, ...] = ()
    devices: tuple[Device, ...] = ()
    looks_for_gpu: bool = False
    versions: tuple[VersionClue, ...] = ()


def code_traits(tree: ast.Module, names: Mapping[str, str], path: PurePosixPath) -> CodeTraits:
    """Return the facts of a module.

    Args:
        tree: The module.
        names: Its constants that are texts.
        path: Its place in the repository.
    """
    seeds, draws = find_seeds(tree, path)
    devices, looks = find_devices(tree, path)
    return CodeTraits(
        downloads=tuple(dict.fromkeys(python_downloads(tree, names, path))),
        seeds=seeds,
        draws=draws,
        devices=devices,
        looks_for_gpu=looks,
        versions=tree_clues(tree),
    )


def text_traits(text: str, path: PurePosixPath) -> CodeTraits:
    """Return the facts of Python code that cannot be parsed, as far as its text tells."""
    return CodeTraits(
        downloads=tuple(text_downloads(text, path)),
        seeds=tuple(text_seeds(text, path)),
        devices=tuple(text_devices(text, path)),
        looks_for_gpu="cuda.is_available" in text,
        versions=text_clues(text),
    )
