"""What a manifest asks of a run and this implementation does not do, so that a run can say so."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import section, value_at
from rra.errors import Problem

CLAUSE = "launcher/what-is-left-out-is-said"

_LAUNCHER = {
    "matrix": (
        "runs are made with the defaults only, not with every combination",
        "make the others with rra run --matrix",
    ),
}
_ENVIRONMENT = {
    "accelerator": (
        "it is not compared with this machine",
        "look whether this machine has one that is at least as good",
    ),
    **dict.fromkeys(
        ("base_image", "rootfs"),
        (
            "it is not used: launchers run with the system that this machine has",
            "for the very same system, follow the README of the environment",
        ),
    ),
}


def left_out(
    document: YamlDocument, launchers: Collection[str], *, matrix: bool = False
) -> tuple[Problem, ...]:
    """Return a warning for each key that would change a run and is not carried out.

    Args:
        document: The manifest.
        launchers: Ids of the launchers that run.
        matrix: Whether every combination of their matrices is run.
    """
    carried_out = {"matrix"} if matrix else set()
    return tuple(dict.fromkeys(_found(document, launchers, carried_out)))


def _found(
    document: YamlDocument, launchers: Collection[str], carried_out: Collection[str]
) -> Iterator[Problem]:
    environments: dict[str, None] = {}
    for name in launchers:
        launcher = section(document.data, "launchers", name)
        environments.setdefault(str(launcher.get("environment")))
        for key, (message, hint) in _LAUNCHER.items():
            if launcher.get(key) and key not in carried_out:
                yield _warning(document, ("launchers", name, key), message, hint)
    for name in environments:
        environment = section(document.data, "environments", name)
        for key, (message, hint) in _ENVIRONMENT.items():
            place: tuple[Key, ...] = ("environments", name, key)
            is_none = value_at(document.data, (*place, "kind")) == "none"
            if key in environment and not is_none:
                yield _warning(document, place, message, hint)


def _warning(document: YamlDocument, place: tuple[Key, ...], message: str, hint: str) -> Problem:
    said = f"{place[-1]} of {place[1]}: {message}"
    return document.problem(place, said, clause=CLAUSE, hint=hint, severity="warning")
