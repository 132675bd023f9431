"""Artifacts from cookiecutter templates; what a person answers is taken literally."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base.files import sha256_file, walk_files
from rra._base.resources import template_path, templates
from rra.author.plan import PlannedFile
from rra.author.template_record import (
    RECORD,
    TemplateRecord,
    portable,
    read_record,
    recorded,
)
from rra.errors import FormatError, Problem, UsageError

_SPECIAL = re.compile(r"""["'\\\n:#{}\[\],&*!|>%@`]|^[-?\s]|\s$""")
"""What YAML takes for more than text."""


@dataclasses.dataclass(frozen=True)
class RenderedTemplate:
    """A template with its variables filled in.

    Attributes:
        files: Files by place.
        notes: What the author should know.
        record: What is kept for the next version of the template.
    """

    files: dict[PurePosixPath, PlannedFile]
    notes: tuple[str, ...]
    record: TemplateRecord


def render_template(
    template: str, root: Path, name: str, answers: Mapping[str, Any]
) -> RenderedTemplate:
    """Render a template in a temporary folder.

    Hooks of a template are not run. The variable ``name`` is the artifact's id, and ``python``,
    unless it is answered, the version that `rra` runs on.

    Args:
        template: Name of a shipped template, path of a folder with ``cookiecutter.json``, or
            path of an artifact's record, whose template and answers are taken again.
        root: Directory of the artifact, from which the record names a template's folder.
        name: Id of the artifact.
        answers: Values of other variables; they are never rendered themselves.

    Raises:
        UsageError: There is no such template, or it has no such variable.
        FormatError: The template cannot be rendered.
    """
    if Path(template).is_file():
        template, answers = replayed(Path(template), answers)
    folder = find_template(template)
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    variables = _variables(folder, {"python": running, **answers, "name": name})
    notes: tuple[str, ...] = ()
    if (folder / "hooks").is_dir():
        notes = ("the template has hooks; they were not run",)
    with tempfile.TemporaryDirectory(prefix="rra-template-") as target:
        rendered = _render(folder, {"cookiecutter": variables}, Path(target))
        files = {
            path: PlannedFile((rendered / path).read_bytes(), _mode(rendered / path))
            for path in walk_files(rendered)
            if (rendered / path).is_file() and not (rendered / path).is_symlink()
        }
    if PurePosixPath(RECORD) in files:
        raise _broken(folder, f"it has a file {RECORD}, which rra writes itself")
    record = TemplateRecord(
        template=template if template in templates() else portable(folder, root),
        version=str(variables.get("_template_version") or _digest(folder)),
        answers={key: value for key, value in variables.items() if not key.startswith("_")},
        files={path: recorded(planned) for path, planned in files.items()},
    )
    return RenderedTemplate(files, notes, record)


def replayed(
    record: Path, answers: Mapping[str, Any], *, moved: str | None = None
) -> tuple[str, dict[str, Any]]:
    """Return the template and the answers of a record; other answers come over its own.

    Answers for variables that the template has no more are left out.

    Args:
        record: The record of an artifact.
        answers: Answers that come over those of the record.
        moved: Where the template is now; by default what the record says.

    Raises:
        UsageError: The template is gone.
        FormatError: The file is not the record of a template, or the template is broken.
    """
    read = read_record(record)
    template = moved or read.template
    if moved is None and template not in templates():
        template = str(record.parent / template)
    known = {"name", *_defaults(find_template(template))}
    kept = {key: value for key, value in read.answers.items() if key in known}
    return template, {**kept, **answers}


def made_from(record: TemplateRecord, root: Path, template: str) -> bool:
    """Tell whether a word names the template that an artifact was made from.

    Args:
        record: The artifact's record.
        root: Directory of the artifact.
        template: Name of a shipped template, path of a template's folder, or of a record.
    """
    named = Path(template).expanduser()
    if template not in templates() and named.is_file():
        other = read_record(named)
        template, base = other.template, named.parent
        named = base / template
    if template in templates() or record.template in templates():
        return template == record.template
    return named.resolve() == (root / record.template).resolve()


def _digest(folder: Path) -> str:
    """Return what stands for the version of a template that names none."""
    state = hashlib.sha256()
    for path in walk_files(folder):
        if path.parts[0] != ".git" and (folder / path).is_file():
            state.update(f"{path}\0{sha256_file(folder / path)}\n".encode())
    return f"sha256:{state.hexdigest()}"


def find_template(template: str) -> Path:
    """Return the folder of a template.

    Args:
        template: Name of a shipped template, or path of a folder with ``cookiecutter.json``.

    Raises:
        UsageError: There is no such template.
    """
    if template in templates():
        return template_path(template)
    folder = Path(template).expanduser()
    if (folder / "cookiecutter.json").is_file():
        return folder.resolve()
    message = f"no template is called {template}"
    hint = f"templates: {', '.join(templates())}; or the path of a cookiecutter template"
    raise UsageError(message, hint=hint)


def _variables(folder: Path, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template's variables: answers as they are, defaults rendered in order."""
    from cookiecutter.environment import StrictEnvironment
    from cookiecutter.prompt import render_variable

    defaults = _defaults(folder)
    unknown = sorted(set(answers) - set(defaults) - {"name", "python"})
    if unknown:
        message = f"the template has no variable {', '.join(unknown)}"
        known = [key for key in defaults if not key.startswith("_")]
        raise UsageError(message, hint=f"variables: {', '.join(known)}")
    variables: dict[str, Any] = {}
    with _template_errors(folder):
        environment = StrictEnvironment(context={"cookiecutter": defaults})
        for key, value in defaults.items():
            first = value[0] if isinstance(value, list) and value else value
            if key in answers:
                variables[key] = answers[key]
            elif key.startswith("_"):
                variables[key] = value
            else:
                variables[key] = render_variable(environment, first, variables)
    variables.setdefault("name", answers["name"])
    return variables


def _defaults(folder: Path) -> dict[str, Any]:
    try:
        defaults = json.loads((folder / "cookiecutter.json").read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise _broken(folder, f"cookiecutter.json: {error}") from error
    if not isinstance(defaults, dict):
        raise _broken(folder, "cookiecutter.json: not a map of variables")
    return defaults


def _render(folder: Path, context: dict[str, Any], target: Path) -> Path:
    from cookiecutter.generate import generate_files

    with _template_errors(folder):
        return Path(
            generate_files(
                repo_dir=str(folder),
                context=context,
                output_dir=str(target),
                accept_hooks=False,
            )
        )


@contextlib.contextmanager
def _template_errors(folder: Path) -> Iterator[None]:
    from cookiecutter.exceptions import CookiecutterException
    from jinja2.exceptions import TemplateError

    try:
        yield
    except (CookiecutterException, TemplateError) as error:
        raise _broken(folder, str(error) or type(error).__name__) from error


@contextlib.contextmanager
def faults_of_template(rendered: RenderedTemplate) -> Iterator[None]:
    """Say of a document that cannot be read that the template gave it, and with which answers.

    Raises:
        FormatError: A document that was rendered breaks the format.
    """
    try:
        yield
    except FormatError as error:
        if not error.problems:
            raise
        problem = error.problems[0]
        answers = _answers_at(rendered, problem)
        hint = "correct the template, from which it was rendered"
        if answers:
            quoted = " and ".join(f"{{{{ cookiecutter.{name} | jsonify }}}}" for name in answers)
            hint = (
                f"that line holds the answer to {' and '.join(answers)}, which the template has "
                f"to quote: {quoted}, without quotation marks around it"
            )
        message = f"the template gives a document that breaks the format: {problem}"
        if "the template's" in error.message:
            message = f"{error.message}: {problem}"
        raise FormatError(message, problems=error.problems, hint=hint) from error


def _answers_at(rendered: RenderedTemplate, problem: Problem) -> list[str]:
    """Return the variables whose text stands in the line of a fault and may break it."""
    file = rendered.files.get(PurePosixPath(problem.path))
    if file is None or problem.line is None:
        return []
    line = file.data.decode("utf-8", "replace").splitlines()[problem.line - 1 :][:1]
    return [
        name
        for name, answer in rendered.record.answers.items()
        if isinstance(answer, str) and _SPECIAL.search(answer) and answer in "".join(line)
    ]


def _broken(folder: Path, what: str) -> FormatError:
    problem = Problem(what, str(folder), clause="author/template")
    return FormatError(str(problem), problems=(problem,), hint="correct the template")


def _mode(path: Path) -> int:
    return 0o755 if path.stat().st_mode & 0o100 else 0o644
