"""Launchers: what they name is defined, what they leave has a place of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.environments import reserved, reserved_variables
from rra.artifact.semantics.ids import need, section
from rra.artifact.semantics.needs import check_needs
from rra.artifact.semantics.parameters import check_parameters
from rra.artifact.semantics.paths import APART, folded, parts
from rra.errors import Problem

ENVIRONMENT = "launcher/environment-is-defined"
NEEDS = "launcher/needs-are-defined"
INPUTS = "launcher/inputs-are-defined"
ENTRY = "launcher/entry-kind"
ENTRY_PLACE = "launcher/entry-is-apart"
OUTPUT_PLACE = "launcher/outputs-are-inside"
OUTPUTS_DIFFER = "launcher/outputs-differ"
STREAMS = "launcher/streams-are-reserved"
ONE_WAY = "launcher/seed-takes-one-way"
DETERMINISTIC = "launcher/seeds-or-deterministic"
SECRETS_DIFFER = "launcher/secrets-differ"
WRITTEN_DOWN = "launcher/secrets-have-no-value"

SUFFIXES = (".sh", ".py", ".ipynb")
"""Kinds of entry."""

RESERVED_OUTPUTS = ("stdout.txt", "stderr.txt")
"""Files of a run's output directory that hold what it printed."""

_SEED = "RRA_SEED"
Place = tuple[Key, ...]


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the launchers of a manifest break."""
    data = document.data
    launchers = section(data, "launchers")
    environments = section(data, "environments")
    items = section(data, "data")
    for name, launcher in launchers.items():
        here: Place = ("launchers", name)
        yield from need(document, environments, (*here, "environment"), "environment", ENVIRONMENT)
        for index, _ in enumerate(launcher.get("needs", ())):
            yield from need(document, launchers, (*here, "needs", index), "launcher", NEEDS)
        for index, _ in enumerate(launcher.get("inputs", ())):
            yield from need(document, items, (*here, "inputs", index), "data item", INPUTS)
        yield from _entry(document, here, launcher["entry"])
        yield from _outputs(document, here, launcher)
        yield from check_parameters(document, here, launcher)
        yield from _seeds(document, here, launcher)
        yield from reserved_variables(document, here, launcher)
        yield from _secrets(document, here, launcher, environments)
    yield from check_needs(document, launchers)


def _entry(document: YamlDocument, here: Place, entry: str) -> Iterator[Problem]:
    place, found = (*here, "entry"), parts(entry)
    if not entry.endswith(SUFFIXES):
        message = f"a launcher is a .sh, .py or .ipynb file, not {entry}"
        hint = "start it from a .sh file and name that as the entry"
        yield document.problem(place, message, clause=ENTRY, hint=hint)
    elif found[0] in APART:
        message = f"a launcher cannot lie in {found[0]}/"
        hint = "move it to launchers/"
        yield document.problem(place, message, clause=ENTRY_PLACE, hint=hint)


def _outputs(document: YamlDocument, here: Place, launcher: Mapping[str, Any]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for index, output in enumerate(launcher.get("outputs", ())):
        name = output if isinstance(output, str) else output["name"]
        place, key = (*here, "outputs", index), folded(name)
        if not key:
            message = f"{name} is the output directory itself, not something in it"
            hint = "name the files that a run leaves"
            yield document.problem(place, message, clause=OUTPUT_PLACE, hint=hint)
        elif key in RESERVED_OUTPUTS:
            yield _stream(document, place, name)
        elif key in seen:
            message = f"{name} and {seen[key]} are the same name where case does not count"
            message = f"the output {name} is named twice" if seen[key] == name else message
            hint = "name each output once; file systems that ignore case keep only one"
            yield document.problem(place, message, clause=OUTPUTS_DIFFER, hint=hint)
        seen.setdefault(key, name)
    for pattern, target in launcher.get("collect", {}).items():
        if folded(target) in RESERVED_OUTPUTS:
            yield _stream(document, (*here, "collect", pattern), target)


def _stream(document: YamlDocument, place: Place, name: str) -> Problem:
    message = f"{name} holds what a run prints; no output can have that name"
    hint = "give the file another name; what is printed is kept without being declared"
    return document.problem(place, message, clause=STREAMS, hint=hint)


def _seeds(document: YamlDocument, here: Place, launcher: Mapping[str, Any]) -> Iterator[Problem]:
    seeds = launcher.get("seeds")
    if seeds is None:
        return
    if "parameter" in seeds and "variable" in seeds:
        message = "the seed goes into a parameter or into a variable, not both"
        hint = "keep the one that the code reads"
        yield document.problem((*here, "seeds"), message, clause=ONE_WAY, hint=hint)
    if launcher.get("deterministic") is True:
        message = "a launcher with seeds is not deterministic"
        hint = "take seeds out if every run gives the same, deterministic if not"
        yield document.problem((*here, "deterministic"), message, clause=DETERMINISTIC, hint=hint)
    variable = seeds.get("variable", "")
    if variable.startswith("RRA_") and variable != _SEED:
        yield reserved(document, (*here, "seeds", "variable"), variable)


def _secrets(
    document: YamlDocument,
    here: Place,
    launcher: Mapping[str, Any],
    environments: Mapping[str, Any],
) -> Iterator[Problem]:
    environment = environments.get(launcher["environment"], {})
    public = {**environment.get("variables", {}), **launcher.get("variables", {})}
    seen: set[str] = set()
    for index, secret in enumerate(launcher.get("secrets", ())):
        place, name = (*here, "secrets", index), secret["env"]
        if name.startswith("RRA_"):
            yield reserved(document, (*place, "env"), name)
        if name in seen:
            message = f"the secret {name} is named twice"
            hint = "keep one"
            yield document.problem((*place, "env"), message, clause=SECRETS_DIFFER, hint=hint)
        seen.add(name)
        hint = "take the value out, and hold it for known: make a new secret"
        if name in public:
            message = f"the secret {name} is written down under variables"
            yield document.problem((*place, "env"), message, clause=WRITTEN_DOWN, hint=hint)
        for key in ("value", "default"):
            if key in secret:
                message = f"the {key} of the secret {name} is written down"
                yield document.problem((*place, key), message, clause=WRITTEN_DOWN, hint=hint)
