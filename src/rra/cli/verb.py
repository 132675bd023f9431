"""What all verbs share: examples in the help, ``--json``, errors, exit codes, progress."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, Protocol

import click

from rra._base.files import full_disk
from rra._base.progress import Event
from rra.cli.hints import for_artifact
from rra.errors import Problem, RraError, StorageError, UsageError

ENVELOPE_VERSION = "1.0"
_DOCUMENT_ENDS = (".yaml", ".json", ".lock")
_INTERRUPTED = "interrupted; nothing is half-written"
Progress = Callable[[str], None]


class Result(Protocol):
    """What every function of `rra.api` returns."""

    @property
    def ok(self) -> bool:
        """Whether the answer is yes."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command line."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Single faults and warnings, with their places."""

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""


class VerbCommand(click.Command):
    """A command whose help ends with examples."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one a line."""
        del ctx
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write_text(f"$ {example}")


def artifact_argument(function: Callable[..., None]) -> Callable[..., None]:
    """Add the ARTIFACT argument: a directory with an ``rra.yaml``, the current one by default."""
    return click.argument(
        "artifact", default=".", type=click.Path(path_type=Path), metavar="[ARTIFACT]"
    )(function)


def reference_argument(function: Callable[..., None]) -> Callable[..., None]:
    """Add the ARTIFACT argument of verbs that only read: a directory, or reference of a bundle."""
    return click.argument("artifact", default=".", metavar="[ARTIFACT]")(function)


def plain_http_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--plain-http``."""
    return click.option("--plain-http", is_flag=True, help="Speak to the registry without TLS.")(
        function
    )


def only_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--only``, with the elements of a bundle."""
    elements = "meta, guide, environment, launchers, code, evidence, data, wheels, runtime"
    return click.option(
        "--only", multiple=True, metavar="ELEMENT,…", help=f"Unpack these elements: {elements}."
    )(function)


def elements_of(only: tuple[str, ...]) -> list[str]:
    """Return the elements that ``--only`` names; none where it is not given.

    Raises:
        click.UsageError: It is given and names none: a script's variable may be empty.
    """
    elements = [name.strip() for one in only for name in one.split(",") if name.strip()]
    if only and not elements:
        raise click.UsageError("--only names no element; leave it away to get all of them")
    return elements


def key_values(option: str, given: tuple[str, ...], form: str = "KEY=VALUE") -> dict[str, str]:
    """Read what an option of the form ``KEY=VALUE`` was given, split at the first ``=``.

    Raises:
        click.UsageError: One has no ``=``, or a key is given twice.
    """
    pairs: dict[str, str] = {}
    for item in given:
        key, found, value = item.partition("=")
        if not found:
            raise click.UsageError(f"{option} {item}: give {form}")
        if key in pairs:
            message = f"{option} {item}: {key} is given twice, as {pairs[key]!r} before"
            raise click.UsageError(message)
        pairs[key] = value
    return pairs


def json_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document (schemas/cli)."
    )(function)


def answer(
    verb: str,
    call: Callable[[Progress], Result],
    render: Callable[[Any], str],
    *,
    as_json: bool,
    events: bool = False,
) -> None:
    """Call a function of the api, print its result, and exit with its code.

    Args:
        verb: Name of the verb, for the envelope.
        call: Calls the api with a progress function.
        render: Makes the text for people.
        as_json: Print the envelope instead.
        events: With the envelope, write each step to standard error as a JSON document.
    """
    try:
        with _progress(quiet=as_json, events=verb if events else "") as progress:
            result = call(progress)
    except RraError as error:
        _fail(verb, error, as_json=as_json)
    except KeyboardInterrupt:
        if as_json:
            said = {"slug": "interrupted", "message": _INTERRUPTED, "hint": ""}
            show_result(json.dumps(_envelope(verb, 130, {"error": said}, ()), indent=2))
        click.echo(_INTERRUPTED, err=True)
        sys.exit(130)
    except (BrokenPipeError, click.ClickException, click.exceptions.Exit):
        raise
    except OSError as error:
        told = _too_long(error) if error.errno == errno.ENAMETOOLONG else full_disk(error)
        if told is None:
            _crash(verb, error, as_json=as_json)
        else:
            _fail(verb, told, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the last line of defence: said, and exit 70
        _crash(verb, error, as_json=as_json)
    if as_json:
        envelope = _envelope(verb, result.exit_code, result.to_json(), result.problems)
        show_result(json.dumps(envelope, indent=2, ensure_ascii=False))
    else:
        _show_problems(result.problems)
        show_result(render(result))
    sys.exit(result.exit_code)


def show_result(text: str) -> None:
    """Write a result to standard output, or end the process where nobody can take it.

    Raises:
        BrokenPipeError: The reader has gone, which is no fault.
    """
    try:
        click.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        refuse_output(error)


def refuse_output(error: OSError) -> NoReturn:
    """Say that standard output takes nothing, and exit; what is still in its buffer goes."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.close(sink)
    message = f"the result cannot be written to standard output: {error.strerror}"
    click.echo(f"error: {message} [{StorageError.slug}]", err=True)
    click.echo("  what to do: send it elsewhere; what the verb itself does is done", err=True)
    sys.exit(StorageError.exit_code)


@contextlib.contextmanager
def refusing(verb: str, *, as_json: bool) -> Iterator[None]:
    """Report errors of what comes before `answer`, such as asking for a passphrase.

    Nothing may be asked inside `answer`: its progress would write over the question.
    """
    try:
        yield
    except RraError as error:
        _fail(verb, error, as_json=as_json)


def _too_long(error: OSError) -> UsageError:
    """Return the error for a path that no file can have; nobody but the user gives such."""
    name = str(error.filename or "a path")
    shown = name if len(name) <= 80 else f"{name[:80]}…"
    return UsageError(f"{shown} cannot be a path: it is too long", hint="give a shorter path")


def _envelope(
    verb: str, exit_code: int, result: dict[str, Any], problems: tuple[Problem, ...]
) -> dict[str, Any]:
    return {
        "rra": ENVELOPE_VERSION,
        "verb": verb,
        "ok": exit_code == 0,
        "exit_code": exit_code,
        "result": result,
        "problems": [problem_json(problem) for problem in problems],
    }


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as plain JSON, unknown parts left out."""
    fields = ("message", "path", "line", "column", "pointer", "clause", "hint", "severity")
    values = {name: getattr(problem, name) for name in fields}
    values["hint"] = for_artifact(problem.hint)
    # An empty pointer is the whole document (RFC 6901); what has no column is in no document.
    whole = problem.column is not None and problem.path.endswith(_DOCUMENT_ENDS)
    return {
        name: value
        for name, value in values.items()
        if value not in (None, "") or (name == "pointer" and whole)
    }


def _show_problems(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        click.echo(f"{problem.severity}: {safe(str(problem))}", err=True)
        if problem.hint:
            click.echo(f"    {safe(for_artifact(problem.hint))}", err=True)


def _fail(verb: str, error: RraError, *, as_json: bool) -> None:
    """Print an error and exit with its code."""
    if as_json:
        said = {"slug": error.slug, "message": error.message, "hint": for_artifact(error.hint)}
        result = {"error": said}
        envelope = _envelope(verb, error.exit_code, result, error.problems)
        show_result(json.dumps(envelope, indent=2, ensure_ascii=False))
    else:
        message, hint = error.message, error.hint
        if len(error.problems) == 1 and error.problems[0].message in message:
            (only,) = error.problems  # the message says all of it already
            clause = f" [{only.clause}]" if only.clause else ""
            message = message if message.endswith(clause) else message + clause
            hint = hint or only.hint
        else:
            _show_problems(error.problems)
        click.echo(f"error: {safe(message)} [{error.slug}]", err=True)
        if hint:
            click.echo(f"  what to do: {safe(for_artifact(hint))}", err=True)
    sys.stdout.flush()
    sys.exit(error.exit_code)


def usage_envelope(verb: str, message: str, *, hint: str) -> str:
    """Return the envelope of a call that was not understood, as text."""
    result = {"error": {"slug": UsageError.slug, "message": message, "hint": hint}}
    envelope = _envelope(verb, UsageError.exit_code, result, ())
    return json.dumps(envelope, indent=2, ensure_ascii=False)


def _crash(verb: str, error: Exception, *, as_json: bool) -> None:
    """Say that this is our fault; the traceback goes to standard error."""
    traceback.print_exception(error)
    message = f"fault of rra itself: {type(error).__name__}: {error}"
    hint = "nothing you did wrong; please report it with the lines above"
    if as_json:
        result = {"error": {"slug": "internal", "message": message, "hint": hint}}
        click.echo(json.dumps(_envelope(verb, 70, result, ()), indent=2, ensure_ascii=False))
    else:
        click.echo(f"error: {message} [internal]\n  what to do: {hint}", err=True)
    sys.exit(70)


def safe(text: str) -> str:
    """Return text with control characters shown, so that no file can steer a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)


def _event(verb: str, line: str) -> str:
    """Return a step of a verb as a JSON document on one line (schemas/cli/lock-event)."""
    fields = line.fields if isinstance(line, Event) else {"event": "step"}
    return json.dumps({"rra": ENVELOPE_VERSION, "verb": verb, "message": str(line), **fields})


def _silent(line: str) -> None:
    del line


@contextlib.contextmanager
def _progress(*, quiet: bool, events: str = "") -> Iterator[Progress]:
    """Yield a function that takes lines: shown with bars on a terminal, plain elsewhere.

    Args:
        quiet: Show nothing.
        events: Verb whose steps are written as JSON documents where nothing is shown.
    """
    if quiet and events:
        yield lambda line: click.echo(_event(events, line), err=True)
        return
    if quiet:
        yield _silent
        return
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda line: click.echo(f"· {safe(line)}", err=True)
        return
    from rra.cli.bars import bars

    with bars(safe) as progress:
        yield progress
