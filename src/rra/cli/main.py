"""The `rra` command: a lazy group, so that help and version load nothing heavy."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import click

import rra
from rra.errors import HungUp

COMMANDS: dict[str, str] = {
    "scan": "Say what a repository holds, how it is run, and what will get in the way.",
    "init": "Draft an artifact from a repository, or from a template.",
    "update": "Merge a newer version of the template of an artifact.",
    "lock": "Resolve and lock the environments, and note what the files are.",
    "env": "Environments: check a lock, build it, explain and compare it.",
    "run": "Run launchers, isolated and recorded.",
    "claims": "Find reported numbers in the outputs, and propose outcomes for them.",
    "guide": "Bring the tables of the guide up to date.",
    "lint": "Check an artifact against the rules.",
    "repair": "Check or apply the repairs: upstream + patches = code.",
    "verify": "Re-run an artifact as a stranger and judge every reported value.",
    "audit": "Trace every reported value to file, record, launcher and script.",
    "report": "Write one HTML page: claimed, obtained, traced, repaired.",
    "trace": "Say which file, run and script a number comes from.",
    "evidence": "Records of runs: list, show, check, compare, clear, state them.",
    "pack": "Make the bundle of an artifact, in a folder or one file.",
    "unpack": "Unpack a bundle, or some of its elements, everything checked.",
    "push": "Send an artifact or a bundle to a registry.",
    "pull": "Bring a bundle from a registry, everything checked.",
    "copy": "Copy a bundle between folders, files and registries.",
    "key": "Make the keys that statements are signed with, and show them.",
    "registry": "Registries: log in and out, list, check many bundles.",
    "attach": "Attach a review, reproduction, audit, notice or signature to a bundle.",
    "status": "Say how a bundle stands: levels, reproductions, reviews, notices.",
    "inspect": "Say what is in a bundle, from its two small documents.",
    "diff": "Compare two artifacts: elements, files, outcomes.",
    "next": "Say what stands between this artifact and its next level.",
    "spec": "The format: versions, schemas, migration, conformance cases.",
    "explain": "Explain a rule, a verdict, a level, a clause or an error.",
    "doctor": "Say what this machine can isolate, record and build.",
}
"""Verbs and what they are for, in the order of the work."""


_INTERRUPTED = 130
"""Exit code after an interrupt."""


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the work."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a verb's command; None for a word that is no verb."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"rra.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or name the nearest ones."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=2)
            hint = f"; did you mean {' or '.join(near)}?" if near else "; see rra --help"
            ctx.fail(f"no verb is called {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing them."""
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: rra init . — or judge somebody's artifact with: rra verify DIRECTORY",
)
@click.version_option(
    rra.__version__, "-V", "--version", prog_name="rra", message="rra %(version)s"
)
def group() -> None:
    """Hand an experiment on: refined reproducible artifacts.

    ARTIFACT is a directory with an rra.yaml; the current one by default. Verbs that only read,
    and verify and audit, which work on a copy, also take a bundle:

    \b
      oci-layout:DIR[:TAG], oci-archive:FILE[:TAG], HOST/REPOSITORY:TAG,
      https://HOST/FILE.oci.tar#sha256:…; @sha256:… behind it pins the digest

    Results go to standard output, progress to standard error; --json gives a machine all of it.

    Exit codes: 0 yes or done; 1 the answer is no; 2 wrong call or configuration;
    3 something outside is missing; 4 input unreadable or unsafe; 70 a fault of rra;
    130 interrupted.
    """  # noqa: D301 - click wants the character, which keeps lines as they are


def main() -> None:
    """Run the command line and exit."""
    # Pydantic would read the metadata of every distribution to find plugins, at each start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _open_streams()
    _end_as_interrupted()
    try:
        group(standalone_mode=False)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except click.ClickException as error:
        _refuse(error)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        _end_interrupted()
    except SystemExit as ending:
        if ending.code == _INTERRUPTED:
            _end_interrupted()
        raise
    except BrokenPipeError:
        # The reader has what it wanted (`rra … | head`); nothing more may be written.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF}:
            raise
        from rra.cli.verb import refuse_output

        refuse_output(error)


def _end_interrupted() -> NoReturn:
    """End what is still running of what was started, and exit."""
    from rra._base import proctree

    proctree.end_children()
    sys.exit(_INTERRUPTED)


def _end_as_interrupted() -> None:
    """Let a request to end do what an interrupt does: stop what was started, sweep, exit.

    A second request is not heard: it would end the sweeping. What is ignored stays so (nohup).
    """

    def interrupt(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise HungUp if number == signal.SIGHUP else KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


def _open_streams() -> None:
    """Give standard streams that are closed a place to go, before a file gets their number."""
    number = os.open(os.devnull, os.O_RDWR)
    while number <= 2:
        number = os.dup(number)
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            sink = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
            setattr(sys, name, sink)


def _refuse(error: click.ClickException) -> None:
    """Say what is wrong with the call: to a machine in the envelope, if it asks for that."""
    words = sys.argv[1:]
    if "--json" not in (words[: words.index("--")] if "--" in words else words):
        error.show()
        return
    from rra.cli.verb import usage_envelope

    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path.split()[1:] if context is not None else []
    verb = "-".join(path) or next((word for word in words if word in COMMANDS), "rra")
    command = " ".join(["rra", *path])
    click.echo(usage_envelope(verb, error.format_message(), hint=f"see {command} --help"))
    sys.stdout.flush()
