"""Instances: the runs that one launcher stands for, and how each is called.

An **axis** is something that several values are run for: a parameter of the launcher's matrix, or
the seed. An instance has one value on each axis, and a name that says them: ``depth=3,seed=1``.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping

from rra._base import canonical
from rra.errors import UsageError
from rra.launch.parameters import LARGEST_INTEGER, Scalar, as_text
from rra.launch.request import DEFAULT_INSTANCE
from rra.model import Launcher

SEED = "seed"
"""Name of the axis of seeds."""

REDUCED = "reduced"
SMOKE = "smoke"
DECLARED = "declared"
"""Word that stands for the seeds that each launcher declares."""

_LONGEST = 128
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_SEEDS = 100_000

Seeds = tuple[int, ...] | str
"""Seeds to run with, or `DECLARED`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Instance:
    """One of the runs that a launcher stands for.

    Attributes:
        name: Its name among those of the launcher.
        axes: Its value on each axis, in their order; none for the launcher's only run.
    """

    name: str
    axes: Mapping[str, Scalar]


def is_shortened(instance: str) -> bool:
    """Tell whether a run of this name took reduced or smoke parameters."""
    return instance.split(",", maxsplit=1)[0] in {REDUCED, SMOKE}


def parse_seeds(text: str) -> Seeds:
    """Read seeds as the command line gives them: ``0:5`` (0 to 4), ``1,2,7``, or ``declared``.

    Raises:
        UsageError: It is neither, names a seed twice, or too many.
    """
    if text.strip() == DECLARED:
        return DECLARED
    seeds: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(-?[0-9]{1,16})(?::(-?[0-9]{1,16}))?\s*", part)
        if found is None:
            raise _refused(f"{part.strip()!r} is no seed")
        first = int(found[1])
        end = first + 1 if found[2] is None else int(found[2])
        if end <= first:
            raise _refused(f"{part.strip()} holds no seed")
        if len(seeds) + end - first > _MOST_SEEDS:
            count = len(seeds) + end - first
            raise _refused(f"these are {count:,} seeds, and {_MOST_SEEDS:,} are the most")
        seeds += range(first, end)
    seen: set[int] = set()
    for seed in seeds:
        if seed in seen:
            raise _refused(f"seed {seed} is given twice")
        seen.add(seed)
    if any(abs(seed) > LARGEST_INTEGER for seed in seeds):
        raise _refused(f"a seed is beyond {LARGEST_INTEGER}")
    return tuple(seeds)


def _refused(why: str) -> UsageError:
    hint = "give them as 0:5 (0, 1, 2, 3, 4), as 1,2,7, or as declared"
    return UsageError(f"--seeds: {why}", hint=hint)


def instances_of(
    launcher: Launcher,
    *,
    seeds: Seeds | None = None,
    matrix: bool = False,
    given: Mapping[str, Scalar] | None = None,
    mode: str | None = None,
) -> list[Instance]:
    """Return the instances of a launcher: every combination of one value on each axis.

    Args:
        launcher: Its declaration.
        seeds: Seeds to run with, where the launcher takes any.
        matrix: Whether its matrix is run.
        given: Values that the caller set, as recorded; a parameter of the matrix that is set is
            no axis.
        mode: `REDUCED` or `SMOKE` for runs that must not take the place of full ones.

    Raises:
        UsageError: A parameter of the matrix is called as the axis of seeds is.
    """
    fixed = dict(given or {})
    axes: dict[str, list[Scalar]] = {}
    if matrix and launcher.matrix:
        axes |= {name: list(vs) for name, vs in launcher.matrix.items() if name not in fixed}
    if seeds is not None and launcher.seeds is not None:
        if SEED in axes:
            message = f"parameter {SEED} is in the matrix, so instances of each seed have no name"
            raise UsageError(message, hint=f"set it: --set {SEED}=…, or run without --matrix")
        axes[SEED] = list(launcher.seeds.values if isinstance(seeds, str) else seeds)
        if not axes[SEED]:
            del axes[SEED]
    if not axes:
        return [Instance(mode or DEFAULT_INSTANCE, {})]
    first = (mode,) if mode else ()
    return [Instance(instance_name({**fixed, **point}, first), point) for point in _product(axes)]


def _product(axes: Mapping[str, list[Scalar]]) -> Iterator[dict[str, Scalar]]:
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def instance_name(values: Mapping[str, Scalar], mode: tuple[str, ...] = ()) -> str:
    """Return the name that says these values, as a record may hold it.

    What a name cannot hold is replaced, and a digest of the values then keeps apart what
    would look alike.
    """
    texts = {name: as_text(value) for name, value in values.items()}
    parts = [*mode, *(f"{name}={text}" for name, text in texts.items())]
    plain = all(_PLAIN.fullmatch(text) for text in texts.values())
    name = ",".join(parts)
    if plain and len(name) <= _LONGEST and name[0].isalnum():
        return name
    digest = canonical.digest(dict(values)).removeprefix("sha256:")[:12]
    shown = [*mode, *(f"{name}={_OTHER.sub('-', text)}" for name, text in texts.items())]
    start = ",".join(shown).lstrip("_-.=,")[: _LONGEST - 13].rstrip(",=") or "p"
    return f"{start}-{digest}"
