"""Artifacts from cookiecutter templates; what a person answers is taken literally."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base.files import walk_files
from rra._base.resources import template_path, templates
from rra.author.plan import PlannedFile
from rra.errors import FormatError, Problem, UsageError


def render_template(
    template: str, name: str, answers: Mapping[str, str]
) -> tuple[dict[PurePosixPath, PlannedFile], tuple[str, ...]]:
    """Render a template in a temporary folder and return its files and notes.

    Hooks of a template are not run. The variable ``name`` is the artifact's id, and ``python``,
    unless it is answered, the version that `rra` runs on.

    Args:
        template: Name of a shipped template, or path of a folder with ``cookiecutter.json``.
        name: Id of the artifact.
        answers: Values of other variables; they are never rendered themselves.

    Raises:
        UsageError: There is no such template, or it has no such variable.
        FormatError: The template cannot be rendered.
    """
    folder = _find(template)
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    context = _context(folder, {"python": running, **answers, "name": name})
    notes: tuple[str, ...] = ()
    if (folder / "hooks").is_dir():
        notes = ("the template has hooks; they were not run",)
    with tempfile.TemporaryDirectory(prefix="rra-template-") as target:
        rendered = _render(folder, context, Path(target))
        files = {
            path: PlannedFile((rendered / path).read_bytes(), _mode(rendered / path))
            for path in walk_files(rendered)
            if (rendered / path).is_file() and not (rendered / path).is_symlink()
        }
    return files, notes


def _find(template: str) -> Path:
    if template in templates():
        return template_path(template)
    folder = Path(template).expanduser()
    if (folder / "cookiecutter.json").is_file():
        return folder.resolve()
    message = f"no template is called {template}"
    hint = f"templates: {', '.join(templates())}; or the path of a cookiecutter template"
    raise UsageError(message, hint=hint)


def _context(folder: Path, answers: Mapping[str, str]) -> dict[str, Any]:
    """Return the template's variables: answers as they are, defaults rendered in order."""
    from cookiecutter.environment import StrictEnvironment
    from cookiecutter.prompt import render_variable

    try:
        defaults = json.loads((folder / "cookiecutter.json").read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise _broken(folder, f"cookiecutter.json: {error}") from error
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
    return {"cookiecutter": variables}


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


def _broken(folder: Path, what: str) -> FormatError:
    problem = Problem(what, str(folder), clause="author/template")
    return FormatError(str(problem), problems=(problem,), hint="correct the template")


def _mode(path: Path) -> int:
    return 0o755 if path.stat().st_mode & 0o100 else 0o644
