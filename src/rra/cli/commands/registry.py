"""``rra registry``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option, safe

if TYPE_CHECKING:
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
