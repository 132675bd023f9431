"""``rra env``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra._base.counts import counted
from rra.cli.text import next_step, size, word
from rra.cli.verb import (
    VerbCommand,
    answer,
    json_option,
    plain_http_option,
    reference_argument,
    safe,
)

if TYPE_CHECKING:
    from rra.api._env_build import BuiltEnvironment, BuiltEnvironments
    from rra.api._env_check import EnvironmentCheck
    from rra.api._env_diff import EnvironmentsDiff
    from rra.api._env_explain import PackageReasons
    from rra.api._env_wheels import GatheredWheels
    from rra.environment.answers import CheckedEnvironment, ExplainedPackage
    from rra.environment.difference import EnvironmentDifference

_SIGNS = {"added": "+", "removed": "-", "changed": "~", "rebuilt": "~"}
_ABILITIES = {
    "lock": "be locked",
    "carry": "carry its files",
    "build": "be built",
    "wheels": "bring its files here",
    "run": "run launchers",
}
_WHERE_LOCKED = "what is not beside the lock comes from your index"


def _environment_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--environment``, which may be given several times."""
    return click.option(
        "--environment", "-e", multiple=True, metavar="ID", help="Only this environment."
    )(function)


@click.group("env")
def command() -> None:
    """Environments: check a lock, build it, gather its wheels, explain and compare it."""


@command.command(
    "check",
    cls=VerbCommand,
    examples=("rra env check .", "rra env check oci-archive:../study.tar --available"),
)
@reference_argument
@_environment_option
@click.option("--available", is_flag=True, help="Ask your index for each locked file; no build.")
@plain_http_option
@json_option
def check(
    artifact: str,
    environment: tuple[str, ...],
    available: bool,
    plain_http: bool,
    as_json: bool,
) -> None:
    """Check that a lock says what the files around it say; nothing is installed.

    Each environment is checked as its kind is, and the answer says what else that kind can do.
    A lock of kind pylock is compared with rra.lock, with what rra.yaml and the code ask for, with
    requirements.txt, and with the wheels beside it. With --available your index is asked for
    each file, by name and digest: what has gone is named while there is time to save it.

    Exits with 1 when a lock does not hold, or when a file is neither there nor beside the lock.
    """
    answer(
        "env-check",
        lambda progress: api.env_check(
            artifact,
            environments=environment,
            available=available,
            plain_http=plain_http,
            progress=progress,
        ),
        _render_check,
        as_json=as_json,
    )


def _render_check(result: EnvironmentCheck) -> str:
    lines = [line for one in result.environments for line in _checked(one)]
    if not result.ok:
        stale = any(not one.consistent for one in result.environments)
        step = "rra lock" if stale else "rra env wheels, to save what is still there"
        lines.append(next_step(step))
    elif all(one.available is None for one in result.environments):
        lines.append(next_step("rra env check --available, or rra env build"))
    return "\n".join(lines)


def _checked(one: CheckedEnvironment) -> list[str]:
    python = f" for Python {one.python}" if one.python else ""
    kind = "" if one.kind == "pylock" else f"{one.kind}, "
    says = "the lock says what the files say" if one.consistent else "the lock does not hold"
    beside = f", {one.beside} of {counted(one.wheels, 'file')} beside it" if one.wheels else ""
    count = counted(one.packages, "package")
    lines = [f"{one.id}: {says} ({kind}{count}{python}{beside})"]
    if kind:
        lines.append(f"  kind {one.kind} can {_abilities(one.can)}")
    if one.available is not None:
        there = one.wheels - len(one.gone)
        lines.append(f"{one.id}: your index has {there} of {counted(one.wheels, 'locked file')}")
    return lines


def _abilities(can: Sequence[str]) -> str:
    said = [text for name, text in _ABILITIES.items() if name in can]
    return ", ".join([*said, "be checked, explained and compared"])


@command.command(
    "build",
    cls=VerbCommand,
    examples=("rra env build .", "rra env build oci-archive:../study.tar --into ../study-env"),
)
@reference_argument
@_environment_option
@click.option(
    "--into",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path),
    help="Build here, anew, instead of in the cache.",
)
@click.option(
    "--imports", is_flag=True, help="Import what the code imports, in a sandbox without network."
)
@plain_http_option
@json_option
def build(
    artifact: str,
    environment: tuple[str, ...],
    into: Path | None,
    imports: bool,
    plain_http: bool,
    as_json: bool,
) -> None:
    """Build what is locked, as its kind is built, and say what was reached.

    Wheels are installed and compared with their lock; images are built by podman or docker.

    locked: the versions are fixed, their files come from your index. bundled: every file that
    this machine needs lies beside the lock. rebuilt offline: it was built from these alone, and
    no index was asked. runs: with --imports, what the code imports can be imported, too.

    An environment that is whole is used again; --into builds anew. Exits with 1 when an import
    fails.
    """
    answer(
        "env-build",
        lambda progress: api.env_build(
            artifact,
            environments=environment,
            into=into,
            imports=imports,
            plain_http=plain_http,
            progress=progress,
        ),
        _render_build,
        as_json=as_json,
    )


def _render_build(result: BuiltEnvironments) -> str:
    lines = [line for one in result.environments for line in _built(one)]
    if any(one.level == "locked" for one in result.environments):
        lines.append(next_step("rra lock --keep --wheels, so that no index is needed"))
    else:
        lines.append(next_step("rra run, or rra verify"))
    return "\n".join(lines)


def _built(one: BuiltEnvironment) -> list[str]:
    own = "the artifact's own Python" if one.interpreter == "own" else "host interpreter"
    count = counted(len(one.packages), "package")
    note = f"; {_WHERE_LOCKED}" if one.level == "locked" else ""
    if one.kind == "pylock":
        said = f"{one.id}: {one.level} ({own} {one.python}), {count}{note}"
    else:
        python = f", Python {one.python}" if one.python else ""
        said = f"{one.id}: {one.level} (kind {one.kind}{python}), {count}"
    where = one.image or one.place or "the system of this machine"
    return [
        said,
        safe(f"  {'used again' if one.reused else 'built'}: {where}"),
        *(safe(f"  {line}") for line in _imported(one)),
    ]


def _imported(one: BuiltEnvironment) -> list[str]:
    if one.imports is None:
        return []
    if not one.imports:
        return ["imports: the code imports no package, so nothing shows that it runs"]
    good = one.imports - len(one.failed)
    return [f"imports: {good} of {one.imports} of the code's work", *one.failed]


@command.command(
    "wheels",
    cls=VerbCommand,
    examples=("rra env wheels .", "rra env wheels oci-archive:../study.tar --into ../wheels"),
)
@reference_argument
@_environment_option
@click.option(
    "--into",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path),
    help="Link the wheels into this folder, with a requirements.txt for pip.",
)
@plain_http_option
@json_option
def wheels(
    artifact: str,
    environment: tuple[str, ...],
    into: Path | None,
    plain_http: bool,
    as_json: bool,
) -> None:
    """Bring the wheels of a lock here; each is kept once, whichever artifacts need it.

    They come from beside the lock, from artifacts that were here before, else from your index,
    and only their digest counts. The artifact is not changed: rra lock --keep --wheels puts them
    beside the lock, to travel along.
    """
    answer(
        "env-wheels",
        lambda progress: api.env_wheels(
            artifact,
            environments=environment,
            into=into,
            plain_http=plain_http,
            progress=progress,
        ),
        _render_wheels,
        as_json=as_json,
    )


def _render_wheels(result: GatheredWheels) -> str:
    lines = [
        f"{one.id}: {counted(one.wheels, 'wheel')}, {size(one.size)} ({one.shared} here before, "
        f"{one.beside} from beside the lock, {one.fetched} from your index)"
        for one in result.environments
    ]
    lines.append(safe(f"shared in {result.house}"))
    folder = next((one.folder for one in result.environments if one.folder), None)
    if folder is None:
        lines.append(next_step("rra env build"))
    else:
        links = word(folder)
        lines.append(
            next_step(
                f"pip install --no-index --find-links {links} --require-hashes "
                f"-r {word(folder / 'requirements.txt')}"
            )
        )
    return "\n".join(lines)


@command.command(
    "diff",
    cls=VerbCommand,
    examples=(
        "rra env diff . oci-archive:../study.tar",
        "rra env diff environment/cpu/pylock.toml ../env --json",
    ),
)
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@click.option("--environment", "-e", metavar="ID", help="Only this environment.")
@plain_http_option
@json_option
def diff(before: str, after: str, environment: str | None, plain_http: bool, as_json: bool) -> None:
    """Say which packages two environments have not in common.

    BEFORE and AFTER are artifacts, bundles, pylock.toml files or folders of virtual
    environments, in any combination. Exits with 0 when nothing differs, with 1 when something
    does.
    """
    answer(
        "env-diff",
        lambda progress: api.env_diff(
            before, after, environment=environment, plain_http=plain_http, progress=progress
        ),
        _render_diff,
        as_json=as_json,
    )


def _render_diff(result: EnvironmentsDiff) -> str:
    return safe("\n".join(line for one in result.environments for line in _differences(one)))


def _differences(one: EnvironmentDifference) -> list[str]:
    title = one.before if one.before == one.after else f"{one.before} → {one.after}"
    versions = [f"{tool.name} {', '.join(tool.before or tool.after)}" for tool in one.tools]
    beside = f"beside them: {', '.join(versions)}, which the virtual environment was made with"
    if one.same:
        return [f"{title}: the same", *([f"  {beside}"] if versions else [])]
    lines = [f"{title}: {counted(len(one.packages), 'package differs', 'packages differ')}"]
    lines += [
        f"  {fact.name}: {fact.before or 'not said'} → {fact.after or 'not said'}"
        for fact in one.facts
    ]
    for package in one.packages:
        before, after = ", ".join(package.before), ", ".join(package.after)
        told = {"added": after, "removed": before, "changed": f"{before} → {after}"}
        shown = told.get(package.change, f"{after}, other files")
        lines.append(f"{_SIGNS[package.change]} {package.name} {shown}")
    return [*lines, *([f"  {beside}"] if versions else [])]


@command.command(
    "explain",
    cls=VerbCommand,
    examples=("rra env explain numpy", "rra env explain numpy oci-archive:../study.tar --json"),
)
@click.argument("package", metavar="PACKAGE")
@reference_argument
@_environment_option
@plain_http_option
@json_option
def explain(
    package: str,
    artifact: str,
    environment: tuple[str, ...],
    plain_http: bool,
    as_json: bool,
) -> None:
    """Say which file, day and requirement gave a package its version.

    All of it is read from the lock, which rra lock writes it into; no index is asked.
    """
    answer(
        "env-explain",
        lambda progress: api.env_explain(
            package,
            artifact,
            environments=environment,
            plain_http=plain_http,
            progress=progress,
        ),
        _render_explain,
        as_json=as_json,
    )


def _render_explain(result: PackageReasons) -> str:
    lines = [line for one in result.environments for line in _reasons(result.package, one)]
    return safe("\n".join([*lines, next_step("rra env check")]))


def _reasons(package: str, one: ExplainedPackage) -> list[str]:
    lines = [f"{one.id}: {package} {', '.join(one.versions)}"]
    if one.requirement:
        lines.append(f"  asked for    {one.requirement}{f' ({one.place})' if one.place else ''}")
    if one.required_by:
        lines.append(f"  needed by    {', '.join(one.required_by)}")
    if one.index:
        lines.append(f"  comes from   the index {one.index} of its author's settings")
    if one.overtaken_by:
        lines.append(f"  overtaken    by {one.overtaken_by}, which was there on the day")
    lines += [f"  by way of    {' → '.join(chain)}" for chain in one.chains]
    rows = (
        ("followed", one.manifest, one.manifest_why),
        ("as of", one.as_of or "no day: the newest of when it was locked", one.as_of_why),
        ("Python", one.python, one.python_why),
    )
    for title, value, why in rows:
        if value:
            lines.append(f"  {title:12} {value}{f' ({why})' if why else ''}")
    lines += [f"  tried        {line}" for line in one.tried]
    if not one.recorded:
        lines.append("  the lock does not say what asked for it: rra lock writes that down")
    return lines
