"""Writing the draft of ``rra.yaml``, with the comments that its author needs."""

from __future__ import annotations

from collections.abc import Iterator

from rra.author.draft import Draft
from rra.author.draft_environment import ENVIRONMENT, DraftEnvironment
from rra.author.draft_launchers import DraftLauncher
from rra.author.draft_outcomes import DraftOutcome
from rra.author.names import blank
from rra.author.yamltext import comment, flow_list, flow_map, scalar


def manifest_text(draft: Draft) -> str:
    """Return the text of ``rra.yaml`` for a draft; it is valid as it stands."""
    return "".join(
        part
        for section in (
            _top(draft),
            _source(draft),
            _environments(draft),
            _data(draft),
            _launchers(draft),
            _experiments(draft),
        )
        for part in section
    )


def _top(draft: Draft) -> Iterator[str]:
    licence = draft.scan.licence
    yield (
        "# The artifact in its author's words. Drafted by `rra init` from the repository: read it\n"
        "# through. What only you know is marked; what was guessed says so.\n"
    )
    yield 'rra: "1.0"\n'
    yield f"name: {scalar(draft.name)}\n"
    yield "version: 0.1.0\n"
    if licence is not None and licence.spdx:
        yield f"license: {scalar(licence.spdx)}  # from {licence.path}\n"
    else:
        what = f"SPDX identifier of {licence.path}" if licence else "SPDX identifier, such as MIT"
        yield f"license: {scalar(blank(what))}\n"
    if draft.title:
        yield f"title: {scalar(draft.title)}\n"
    if draft.declared.authors:
        yield "authors:\n"
        for author in draft.declared.authors:
            yield f"  - name: {scalar(author)}\n"
    else:
        yield "# authors: [{name: …}]\n"
    yield "# paper: {title: …, year: …, doi: …}\n"


def _source(draft: Draft) -> Iterator[str]:
    source = draft.source
    if source is not None:
        yield "\n# The tree the code was made from: code = this tree + the repairs in guide/.\n"
        yield "source:\n"
        if source.repository:
            yield f"  repository: {scalar(source.repository)}\n"
        if source.commit:
            yield f"  commit: {_quoted(source.commit)}\n"
        yield f"  swhid: {_quoted(source.swhid)}\n"
    if draft.nested and not draft.exclude:
        yield "code: {root: code}\n"
        return
    yield "code:\n"
    yield f"  root: {_quoted(draft.code_root)}\n"
    if draft.exclude:
        yield "  # not code: git ignores them\n"
        yield "  exclude:\n"
        for pattern in draft.exclude:
            yield f"    - {_quoted(pattern)}\n"


def _quoted(text: str) -> str:
    written = scalar(text)
    return written if written[:1] in {'"', "'"} else f'"{written}"'


def _environments(draft: Draft) -> Iterator[str]:
    yield "\nenvironments:\n"
    yield f"  {ENVIRONMENT}:\n"
    if draft.other is not None:
        yield from _other(draft.other)
        return
    yield "    kind: pylock\n"
    yield comment(f"Python: {draft.python_why}", 4)
    yield f"    python: {_quoted(draft.python)}\n"
    yield f"    lock: environment/{ENVIRONMENT}/pylock.toml  # made by: rra lock\n"
    if draft.requirements:
        yield comment("the launchers need more than the code's own files name", 4)
        yield f"    requirements: {flow_list(list(draft.requirements))}\n"
    else:
        found = ", ".join(draft.detected.requirements) or "nothing beyond Python"
        yield comment(f"packages: {found} (from {draft.detected.why})", 4)
    day, why = draft.as_of
    yield comment(f"{why}. To resolve versions as of then:", 4)
    yield f'    # as_of: "{day}"\n'


def _other(drafted: DraftEnvironment) -> Iterator[str]:
    for line in drafted.comments:
        yield comment(line, 4)
    yield f"    kind: {drafted.kind}\n"
    if drafted.python:
        yield f"    python: {_quoted(drafted.python)}\n"
    if drafted.lock:
        made = "  # made by: rra lock" if drafted.kind == "container" else ""
        yield f"    lock: {scalar(drafted.lock)}{made}\n"
    if drafted.kind == "container":
        yield "    # base_image: NAME@sha256:…\n"
        yield f"    # rootfs: environment/{ENVIRONMENT}/rootfs.tar\n"
    if drafted.debian:
        yield f"    system_packages: {{debian: {flow_list(list(drafted.debian))}}}\n"


def _data(draft: Draft) -> Iterator[str]:
    if not draft.data:
        return
    yield "\ndata:\n"
    for item in draft.data:
        readers = ", ".join(str(reader) for reader in item.readers[:4])
        yield f"  {item.id}:\n"
        yield comment(f"read by {readers}; if it may not be shared, say access: gated", 4)
        yield f"    path: {scalar(draft.path(item.path))}\n"
        yield "    access: bundled\n"


def _launchers(draft: Draft) -> Iterator[str]:
    yield "\nlaunchers:\n"
    for launcher in draft.launchers:
        yield from _launcher(draft, launcher)


def _launcher(draft: Draft, launcher: DraftLauncher) -> Iterator[str]:
    yield f"  {launcher.id}:\n"
    if launcher.missing:
        yield comment(blank("write the command that makes the results into launchers/main.sh"), 4)
    else:
        yield comment(f"{launcher.origin}: {launcher.text}", 4)
    for note in launcher.notes:
        yield comment(note, 4)
    yield f"    entry: launchers/{launcher.id}.sh\n"
    yield f"    environment: {ENVIRONMENT}\n"
    inputs = draft.inputs(launcher)
    if inputs:
        yield f"    inputs: {flow_list(inputs)}\n"
    if launcher.collect:
        yield "    # file that the code writes → place in the output directory\n"
        if len(launcher.collect) == 1:
            yield f"    collect: {flow_map(dict(launcher.collect))}\n"
        else:
            yield "    collect:\n"
            for pattern, place in launcher.collect:
                yield f"      {scalar(pattern)}: {scalar(place)}\n"
    if launcher.parameters:
        yield "    parameters:\n"
        for parameter in launcher.parameters:
            choices = ", ".join(scalar(choice) for choice in parameter.choices)
            extra = f", choices: [{choices}]" if choices else ""
            default = scalar(parameter.default)
            yield f"      {parameter.name}: {{type: {parameter.type}, default: {default}{extra}}}\n"


def _experiments(draft: Draft) -> Iterator[str]:
    yield "\n# The numbers that the paper reports, exactly as written: their decimals count.\n"
    yield "experiments:\n"
    for experiment in draft.experiments:
        yield f"  {experiment.id}:\n"
        yield f"    title: {scalar(experiment.title)}\n"
        yield "    outcomes:\n"
        for outcome in experiment.outcomes:
            yield from _outcome(outcome)


def _outcome(outcome: DraftOutcome) -> Iterator[str]:
    yield f"      {outcome.id}:\n"
    yield "        type: number\n"
    yield f"        reported: {_quoted(outcome.reported)}\n"
    if outcome.unit:
        yield f"        unit: {scalar(outcome.unit)}\n"
    yield f"        metric: {scalar(outcome.metric)}\n"
    yield f"        location: {scalar(outcome.location)}\n"
    for note in outcome.notes:
        yield comment(note, 8)
    yield "        selector:\n"
    yield f"          launcher: {outcome.launcher}\n"
    yield f"          file: {scalar(outcome.file)}\n"
    kind, value = outcome.locator
    yield f"          {kind}: {_locator(value)}\n"
    if outcome.pick:
        yield f"          pick: {outcome.pick}\n"
    if outcome.selector_unit:
        yield f"          unit: {outcome.selector_unit}\n"


def _locator(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_locator(v)}" for k, v in _items(value)) + "}"
    return _quoted(str(value))


def _items(value: dict[object, object]) -> Iterator[tuple[str, object]]:
    for key, item in value.items():
        yield scalar(str(key)), item
