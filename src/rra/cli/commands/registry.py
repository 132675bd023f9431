"""``rra registry``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra._base.counts import counted
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option, safe

if TYPE_CHECKING:
    from rra.api._registry_check import CheckReport
    from rra.api._registry_list import Listed, Listing
    from rra.api._registry_login import LoginReport
    from rra.api._registry_logout import LogoutReport
    from rra.api._registry_tags import TagList

_MOST_BYTES = 1 << 20


@click.group("registry")
def command() -> None:
    """Registries: log in and out, list bundles and tags, check many bundles."""


@command.command(
    "login",
    cls=VerbCommand,
    examples=(
        "rra registry login registry.example --username author",
        "rra registry login ghcr.io --username author --password-stdin < token.txt",
    ),
)
@click.argument("registry", metavar="HOST[:PORT]")
@click.option("-u", "--username", metavar="NAME", help="Name of the account; asked for otherwise.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option(
    "--token-host",
    metavar="HOST",
    help="Where the registry's token service is, if it is on another host.",
)
@plain_http_option
@json_option
def login(
    registry: str,
    username: str | None,
    password_stdin: bool,
    token_host: str | None,
    plain_http: bool,
    as_json: bool,
) -> None:
    """Have a registry check a login, and keep it where docker, podman and skopeo look.

    The registry is docker.io for Docker Hub. The password is asked for, or read from standard
    input. A login that is refused is not kept.

    It goes to the file that REGISTRY_AUTH_FILE or DOCKER_CONFIG names, else to the one that has
    something for the registry already, else to ~/.docker/config.json; where that file names a
    credential helper, to the helper.

    A registry whose token service is on another host gets the login only when you agree to that
    host, here or with --token-host; from then on push and pull use it as well.
    """
    if username is None:
        _insist_on_terminal("--username")
        username = click.prompt("User name", err=True)
    if not password_stdin:
        _insist_on_terminal("--password-stdin")
        token_host = token_host or _agreed_host(registry, plain_http=plain_http)
    password, source = _password(from_stdin=password_stdin)
    answer(
        "registry-login",
        lambda progress: api.registry_login(
            registry,
            username,
            password,
            token_host=token_host,
            source=source,
            plain_http=plain_http,
            progress=progress,
        ),
        _render_login,
        as_json=as_json,
    )


def _insist_on_terminal(option: str) -> None:
    """Refuse to ask where nobody would answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = f"there is no terminal to ask on: give {option}"
        raise click.UsageError(message)


def _agreed_host(registry: str, *, plain_http: bool) -> str | None:
    """Ask whether a token service on another host may have the login."""
    from rra.api._registry_login import registry_name
    from rra.errors import RraError
    from rra.registry.login import foreign_token_host

    try:
        host = foreign_token_host(registry_name(registry), plain_http=plain_http)
    except RraError:
        return None  # the login itself meets the same fault, and says it
    if host is None:
        return None
    question = f"{registry} has its logins checked by {safe(host)}. Send the login there?"
    if not click.confirm(question, err=True):
        raise click.Abort
    return host


def _password(*, from_stdin: bool) -> tuple[str, str]:
    """Return the password, and where it came from."""
    if not from_stdin:
        return click.prompt("Password", hide_input=True, err=True), "the terminal"
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        message = "standard input is no password: it is larger than 1 MiB"
        raise click.UsageError(message)
    try:
        return data.decode().rstrip("\r\n"), "standard input"
    except UnicodeDecodeError:
        message = "the password from standard input is not UTF-8"
        raise click.UsageError(message) from None


def _render_login(result: LoginReport) -> str:
    lines = [f"logged in to {result.registry} as {result.username}", f"kept in {result.kept_in}"]
    if result.token_host:
        lines.append(f"the login goes to {result.token_host} too, its token service")
    step = next_step(f"rra push . {result.registry}/REPOSITORY")
    return "\n".join([*(safe(line) for line in lines), step])


@command.command(
    "logout",
    cls=VerbCommand,
    examples=("rra registry logout registry.example", "rra registry logout docker.io --json"),
)
@click.argument("registry", metavar="HOST[:PORT]")
@json_option
def logout(registry: str, as_json: bool) -> None:
    """Forget the login of a registry, wherever it is looked for; no other login is touched."""
    answer(
        "registry-logout",
        lambda progress: api.registry_logout(registry, progress=progress),
        _render_logout,
        as_json=as_json,
    )


def _render_logout(result: LogoutReport) -> str:
    if not result.removed_from:
        return f"no login of {result.registry} was kept"
    places = ", ".join(result.removed_from)
    return safe(f"logged out of {result.registry}: taken out of {places}")


@command.command(
    "tags",
    cls=VerbCommand,
    examples=(
        "rra registry tags registry.example/lab/study",
        "rra registry tags localhost:5000/lab/study --json",
    ),
)
@click.argument("repository", metavar="HOST/REPOSITORY")
@plain_http_option
@json_option
def tags(repository: str, plain_http: bool, as_json: bool) -> None:
    """List the tags of a repository, one a line."""
    answer(
        "registry-tags",
        lambda progress: api.registry_tags(repository, plain_http=plain_http, progress=progress),
        _render_tags,
        as_json=as_json,
    )


def _render_tags(result: TagList) -> str:
    return "\n".join(result.tags)


@command.command(
    "list",
    cls=VerbCommand,
    examples=(
        "rra registry list registry.example/lab/index",
        "rra registry list --from references.txt --json",
    ),
)
@click.argument("catalogue", required=False, metavar="[HOST/REPOSITORY[:TAG]]")
@click.option(
    "--from",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="List the references of a file instead, one a line; - for standard input.",
)
@click.option("--check", is_flag=True, help="Look whether what a catalogue lists is still there.")
@click.option(
    "--jobs", type=click.IntRange(1, 32), default=4, show_default=True, help="How many at once."
)
@plain_http_option
@json_option
def list_(
    catalogue: str | None,
    file: Path | None,
    check: bool,
    jobs: int,
    plain_http: bool,
    as_json: bool,
) -> None:
    """List bundles, from a catalogue or a file of references; no layer of any is read.

    A catalogue is what rra push --catalog keeps; its tag is catalog by default. Of each
    reference in a file, manifest and config are read. Exits with 1 when --check finds something
    moved or gone, with 3 when a reference of the file cannot be read.
    """
    answer(
        "registry-list",
        lambda progress: api.registry_list(
            catalogue,
            file=file,
            check=check,
            jobs=jobs,
            plain_http=plain_http,
            progress=progress,
        ),
        _render_list,
        as_json=as_json,
    )


def _render_list(result: Listing) -> str:
    width = max((len(bundle.reference) for bundle in result.bundles), default=0)
    lines = [_one_line(bundle, min(width, 72)) for bundle in result.bundles]
    count = len(result.bundles)
    lines.append(f"{count} bundle{'s' * (count != 1)} in {safe(result.source)}{_of_them(result)}")
    if count:
        lines.append(next_step("rra pull REFERENCE, or rra inspect REFERENCE"))
    return "\n".join(lines)


def _of_them(result: Listing) -> str:
    """Say how many could not be read, and after a check how many are there."""
    bundles = result.bundles
    unread = sum(one.error is not None for one in bundles)
    checked = sum(one.state is not None for one in bundles)
    there = sum(one.state == "there" for one in bundles)
    said = [f"{unread} of them could not be read"] * bool(unread)
    said += [f"{there} of {checked} looked for are there as listed"] * bool(checked)
    return f"; {'; '.join(said)}" if said else ""


def _one_line(bundle: Listed, width: int) -> str:
    """Return a bundle as one line, whatever its author wrote into its title."""
    said = [bundle.name, bundle.version]
    if bundle.title != bundle.name:
        said.append(bundle.title)
    if bundle.state not in {None, "there"}:
        said.insert(0, f"({bundle.state})")
    elif bundle.error is not None:
        said.insert(0, f"({bundle.error[1]})")
    text = " ".join(" ".join(said).split())
    return safe(f"{bundle.reference.ljust(width)}  {text}".rstrip())


@command.command(
    "check",
    cls=VerbCommand,
    examples=(
        "rra registry check references.txt --jsonl checked.jsonl",
        "rra registry check - --profile archival --jsonl checked.jsonl --jobs 4 < references.txt",
    ),
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--jsonl",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File that gets one JSON line for each bundle.",
)
@click.option(
    "--profile",
    type=click.Choice(["basic", "reproducible", "archival"]),
    default="basic",
    show_default=True,
    help="How much is asked.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 32), default=2, show_default=True, help="How many at once."
)
@plain_http_option
@json_option
def check(
    file: Path, jsonl: Path, profile: str, jobs: int, plain_http: bool, as_json: bool
) -> None:
    """Check many bundles against the rules; every byte is verified, nothing of them is run.

    FILE holds references of bundles, one a line; - is standard input. A check that was stopped
    goes on where it ended: what has a line with the same digest, profile and version of rra is
    not checked again, what could not be checked is. What is wrong with one bundle does not end
    the check of the others.

    Exits with 1 when a bundle fails, with 3 when none does but some could not be checked.
    """
    answer(
        "registry-check",
        lambda progress: api.registry_check(
            file,
            jsonl,
            profile=profile,
            jobs=jobs,
            plain_http=plain_http,
            progress=progress,
        ),
        _render_check,
        as_json=as_json,
    )


def _render_check(result: CheckReport) -> str:
    counts = result.verdicts
    lines = [safe(f"{reference}: {verdict}: {why}") for reference, verdict, why in result.first]
    unhappy = counts["failed"] + counts["error"]
    if unhappy > len(result.first):
        lines.append(f"… and {unhappy - len(result.first)} more in {result.file}")
    lines.append(
        f"{counted(result.references, 'reference')}: {counts['passed']} passed, "
        f"{counts['failed']} failed, {counts['error']} could not be checked; "
        f"{result.checked} checked now"
    )
    if result.noticed:
        there = counted(result.noticed, "bundle")
        lines.append(f"notices on {there}, in {result.file}; who says so: rra status REFERENCE")
    if counts["error"]:
        lines.append(next_step("the same command again: it tries what could not be checked"))
    elif counts["failed"]:
        lines.append(next_step("rra lint REFERENCE says what is wrong with one"))
    return "\n".join(lines)
