"""The first text of the guide, with its blanks, and the documents beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from rra.author.draft import Draft
from rra.author.draft_environment import ENVIRONMENT
from rra.author.draft_launchers import DraftLauncher
from rra.author.guide import begin, end
from rra.author.names import blank, unique
from rra.author.yamltext import comment, flow_list, scalar
from rra.scan import Argument, given_values, own_arguments, words_after

UNCOMMITTED = "0000-uncommitted-changes"
"""Id of the repair that holds what was not committed when the artifact was drafted."""


def guide_text(draft: Draft) -> str:
    """Return the draft of ``guide/GUIDE.md``; tables are filled in afterwards."""
    sections = (
        ("What this reproduces", _what(draft)),
        ("Before you start", _before(draft)),
        ("Environment", _environment()),
        ("Run it", _run(draft)),
        ("Expected results", _place("results")),
        ("Settings and why", _place("settings")),
        ("Repairs and why", _place("repairs")),
        ("What did not work", _tried()),
        ("Known limits", _limits(draft)),
    )
    title = f"# Guide: {draft.title or draft.name}\n"
    return title + "".join(f"\n## {name}\n\n{body}" for name, body in sections)


def _place(name: str) -> str:
    return f"{begin(name)}\n{end(name)}\n"


def _what(draft: Draft) -> str:
    tables = ", ".join(f"*{experiment.title}*" for experiment in draft.experiments)
    need = blank(
        "the paper, and in two or three sentences what is computed and from what, such as: "
        "leave-one-out accuracy of three classifiers on 178 wines"
    )
    return f"{need}\n\nReported results that are made again: {tables}.\n"


def _before(draft: Draft) -> str:
    lines = [
        blank("time, disk and hardware that a full run needs, such as: 5 minutes on one core, 2 GB")
    ]
    if draft.data:
        lines.append(blank("where the data comes from, and under which licence it may be used"))
    return "\n\n".join(lines) + "\n"


def _environment() -> str:
    return (
        f"{_place('environments')}\n"
        "Each of them is locked: every package with its version and digest.\n"
    )


def _run(draft: Draft) -> str:
    first = draft.launchers[0].id
    return (
        "With rra, as a stranger would, in a fresh place:\n\n"
        "```sh\nrra verify .\n```\n\n"
        "Without rra, with the environment's `python` first on `PATH`:\n\n"
        f"{_place('launchers')}\n"
        f"What a run leaves is in `outputs/`, for example `outputs/{first}/stdout.txt`.\n"
    )


def _tried() -> str:
    return (
        blank("what was tried and given up, so that nobody tries it again; or: nothing was tried")
        + "\n"
    )


def _limits(draft: Draft) -> str:
    lines = [
        blank("what is not reproduced and why, such as: Table 2 needs data that cannot be shared")
    ]
    found = [f"{p.place}: {p.message}" for p in draft.scan.problems if p.clause != "scan"]
    if found:
        lines.append("Seen in the code when the artifact was drafted (remove what is cured):")
        lines.append("\n".join(f"- {_plain(text)}" for text in found[:30]))
    return "\n\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


def settings_text(draft: Draft) -> str:
    """Return the draft of ``guide/settings.yaml``: the arguments of the scripts that are run."""
    head = (
        "# The settings that decide the numbers: what each is, who says so, and why.\n"
        "# Drafted from the arguments that the scripts declare; add those of the paper.\n"
    )
    entries = "".join((*_settings(draft), *_declared_settings(draft)))
    return head + (entries or "{}\n")


@dataclasses.dataclass(frozen=True)
class _Setting:
    """One value of an argument: where it comes from, and the launchers that run with it."""

    argument: Argument
    value: str | float | bool | None
    where: str
    given: bool


def _settings(draft: Draft) -> Iterator[str]:
    launchers: dict[str, list[str]] = {}
    settings: dict[str, _Setting] = {}
    for launcher in draft.launchers:
        for setting in _arguments(draft, launcher):
            name = setting.argument.name
            taken = settings.get(name)
            key = name if taken is None or taken.value == setting.value else f"{launcher.id}-{name}"
            launchers.setdefault(key, []).append(launcher.id)
            settings.setdefault(key, setting)
    for name, setting in settings.items():
        yield from _comments(setting.argument)
        yield f"{scalar(name)}:\n"
        yield f"  value: {scalar(setting.value)}\n"
        yield f"  launchers: {flow_list(list(dict.fromkeys(launchers[name])))}\n"
        yield f"  source: {'code' if setting.given else 'default'}\n"
        yield f"  where: {scalar(setting.where)}\n"
        why = (
            blank(f"why {setting.value}, such as: Section 4.1 of the paper says so")
            if setting.given
            else "The script's own default, left as it is."
        )
        yield f"  rationale: {scalar(why)}\n"


def _declared_settings(draft: Draft) -> Iterator[str]:
    """Yield the settings that files of other tools give, under names that are not taken."""
    taken = {
        setting.argument.name
        for launcher in draft.launchers
        for setting in _arguments(draft, launcher)
    }
    for setting in draft.declared.settings:
        name = unique(setting.name, taken)
        taken.add(name)
        why = blank(f"why {setting.value}, such as: Section 4.1 of the paper says so")
        yield f"{scalar(name)}:\n"
        yield f"  value: {scalar(setting.value)}\n"
        yield f"  launchers: {flow_list(list(setting.launchers))}\n"
        yield "  source: code\n"
        yield f"  where: {scalar(setting.where)}\n"
        yield f"  rationale: {scalar(why)}\n"


def _comments(argument: Argument) -> Iterator[str]:
    """Yield what the code says about an argument: its help and the values that it may have."""
    if argument.help:
        yield comment(argument.help)
    if argument.choices and argument.type != "boolean":
        yield comment(f"one of: {', '.join(str(choice) for choice in argument.choices)}")


def _arguments(draft: Draft, launcher: DraftLauncher) -> Iterator[_Setting]:
    """Yield the arguments of the scripts that a launcher starts, with what it gives for them."""
    parameters = {parameter.name: parameter.default for parameter in launcher.parameters}
    for script in launcher.scripts:
        python = draft.scan.python_files.get(script)
        if python is None:
            continue
        names = draft.scan.installed_as(script)
        for words in _words(launcher, script, names) or [()]:
            given = given_values(python.command_line, words)
            for argument in own_arguments(python.command_line, words):
                if argument.name in {"help", "version"}:
                    continue
                if argument.name in parameters or argument.name in given:
                    typed = _typed(argument, given.get(argument.name))
                    value = parameters.get(argument.name, typed)
                    yield _Setting(argument, value, launcher.origin, given=True)
                elif not argument.required:
                    where = f"{draft.path(argument.path)}:{argument.line}"
                    default = argument.default
                    value = argument.default_text or None if default is None else default
                    yield _Setting(argument, value, where, given=False)


def _words(
    launcher: DraftLauncher, script: PurePosixPath, names: Collection[str]
) -> list[tuple[str, ...]]:
    """Return the words that each step of a launcher gives to a script."""
    found = []
    for step in launcher.steps:
        values = {parameter.name: parameter.default for parameter in launcher.parameters}
        argv = [
            word if isinstance(word, str) else f"{word.prefix}{values.get(word.name, '')}"
            for word in step.argv
        ]
        if argv[:2] == ["bash", "-c"]:
            argv = argv[-1].split()
        words = words_after(argv, script, step.workdir, names)
        if words:
            found.append(words)
    return found


def _typed(argument: Argument, text: str | None) -> str | float | bool | None:
    """Return what a command gives as a value of the argument's type, where it is one."""
    if text in {"true", "false"} and argument.type == "boolean":
        return text == "true"
    try:
        if text is not None and argument.type in {"integer", "number"}:
            return int(text) if argument.type == "integer" else float(text)
    except ValueError:
        return text
    return text


def repairs_text(draft: Draft) -> str:
    """Return the draft of ``guide/repairs.yaml``: uncommitted changes, or nothing."""
    head = (
        "# Every change of the upstream code, as a patch with its reason, in the order in which\n"
        "# they apply. To make one, change the committed code, and in its folder:\n"
        "#   git add -N NEW-FILES    (only where files are new)\n"
        "#   git diff --binary --full-index --relative -- CHANGED-FILES > NAME.patch\n"
        "# Put it into guide/repairs/ and its entry here; `rra repair` checks that it fits.\n"
    )
    source = draft.source
    if source is None or not source.patch:
        return head + "{}\n"
    why = blank("why this change and not another, and whether it touches the results")
    files = ", ".join(source.changed[:8]) + (", …" if len(source.changed) > 8 else "")
    return (
        f"{head}{UNCOMMITTED}:\n"
        f"  title: {scalar(f'Uncommitted changes: {files}')}\n"
        f"  symptom: {scalar(blank('what goes wrong without them'))}\n"
        f"  cause: {scalar(blank('why upstream is not like that'))}\n"
        f"  patch: guide/repairs/{UNCOMMITTED}.patch\n"
        "  # protocol is the strictest category: name the one that is true\n"
        "  category: protocol\n"
        "  effect_on_results: possible\n"
        f"  rationale: {scalar(why)}\n"
    )


def handoff_files(draft: Draft) -> dict[str, str]:
    """Return the files that agents read first: one text, the others import it."""
    first = draft.launchers[0].id
    text = f"""\
# For whoever works with this artifact, person or agent

Read `guide/GUIDE.md` first; `rra.yaml` says which numbers are reproduced and where they stand.

- To reproduce: `rra verify .`, or without rra: set up `environment/{ENVIRONMENT}/README.md`, then
  `bash launchers/{first}.sh` and look into `outputs/{first}/`.
- A number counts only if a launcher has just made it. Take none from prose, from committed
  results or from `evidence/`.
- Change the code only with a repair: `guide/repairs.yaml` holds what it needed, and why.
- If a launcher fails, report its command, the last lines of the error and the Python version.
"""
    skill = """\
---
name: reproduce
description: Re-run this artifact and judge whether its reported numbers come out.
---

Follow `AGENTS.md` at the root of the artifact. In short: `rra verify . --json`; report each
outcome's verdict with the value obtained; never copy a number that no launcher has just made.
"""
    return {
        "AGENTS.md": text,
        "CLAUDE.md": "@AGENTS.md\n",
        "GEMINI.md": "@AGENTS.md\n",
        ".agents/skills/reproduce/SKILL.md": skill,
    }


def readme_text(draft: Draft) -> str:
    """Return the README of an artifact whose code lies in ``code/``."""
    title = draft.title or draft.name
    how = ", with instructions for plain pip" if draft.other is None else " and how it is built"
    return f"""\
# {title}

A Refined Reproducible Artifact of the repository in `code/`.

- `guide/GUIDE.md`: what it reproduces, how to run it, what to expect
- `environment/{ENVIRONMENT}/`: the environment{how}
- `launchers/`: the runs, each an executable file
- `rra.yaml`: the reported numbers and where each is made

```sh
rra verify .
```
"""
