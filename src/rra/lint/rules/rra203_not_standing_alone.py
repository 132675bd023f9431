from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule
from rra.model import Environment

_SHOWN = 3
_AGAIN = "run: rra lock --keep --runtime"


class NotStandingAlone(Rule):
    """A bundle of the artifact does not verify from itself alone.

    ## What it does

    Looks for what verifying would have to get from elsewhere: wheels that do not lie beside a
    lock, an interpreter that is not carried (or is another Python than the environment says, or
    for a platform that it does not name), environments that are built by other means than
    wheels, data that is not bundled, and launchers that need a network.

    ## Why is this bad?

    Indexes drop files, hosts close, and in ten years no machine has today's Python. What an
    archive is to keep has to be in it. Of the machine, only the kernel, the C library and a
    shell are then needed.

    ## How to fix

    Run `rra lock --keep --runtime`, which puts all wheels and the interpreter beside each lock.
    Bundle the data, or accept that it has to be fetched and leave the profile `archival` out.

    ## Example

    With this environment, a bundle verifies without an index and without a Python of the
    machine; without the last two keys, and the files that they name, it does not:

    ```yaml
    environments:
      cpu:
        kind: pylock
        python: "3.11"
        lock: environment/cpu/pylock.toml
        wheels: environment/cpu/wheels
        interpreter: environment/cpu/interpreter.tar
    ```
    """

    code = "RRA203"
    name = "not-standing-alone"
    severity = Severity.ERROR
    profile = Profile.ARCHIVAL
    since = "0.1"
    clause = "environment/stands-alone"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield what each environment, data item and launcher would need from elsewhere."""
        manifest = context.artifact.manifest
        used = dict.fromkeys(one.environment for one in manifest.launchers.values())
        for name in used:
            if name in manifest.environments:
                yield from self._environment(context, name, manifest.environments[name])
        for name, item in manifest.data.items():
            if item.access != "bundled":
                message = f"data {name} does not travel with the artifact (access: {item.access})"
                hint = "bundle it, if its licence and its size allow that"
                place = ("data", name, "access")
                yield self.in_document(context.document, place, message, hint=hint)
        for name, launcher in manifest.launchers.items():
            if launcher.network != "none":
                message = f"launcher {name} needs a network"
                hint = "let it read what it needs from bundled data"
                place = ("launchers", name, "network")
                yield self.in_document(context.document, place, message, hint=hint)

    def _environment(self, context: Context, name: str, env: Environment) -> Iterator[Finding]:
        here = ("environments", name)
        if env.kind != "pylock":
            message = f"environment {name} is of kind {env.kind}, which no bundle carries"
            hint = "lock wheels (kind: pylock), or archive what it is built from elsewhere"
            yield self.in_document(context.document, (*here, "kind"), message, hint=hint)
            return
        missing = list(_missing_wheels(context, env))
        if missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            message = f"wheels of environment {name} are not in the artifact: "
            message += ", ".join(missing[:_SHOWN]) + more
            hint = "run: rra lock --keep --wheels"
            yield self.in_document(context.document, (*here, "lock"), message, hint=hint)
        if env.interpreter is None:
            message = f"environment {name} does not carry its interpreter"
            yield self.in_document(context.document, here, message, hint=_AGAIN)
            return
        fault = _fault(context, env)
        if fault:
            message = f"the interpreter of environment {name} {fault}"
            place = (*here, "interpreter")
            yield self.in_document(context.document, place, message, hint=_AGAIN)


def _missing_wheels(context: Context, env: Environment) -> Iterator[str]:
    """Yield the names of files that a lock names and that do not lie in its wheels."""
    if env.lock is None:
        return
    lock = PurePosixPath(env.lock)
    file = context.text(lock)
    try:
        packages = tomllib.loads(file.text).get("packages", []) if file is not None else []
    except tomllib.TOMLDecodeError:  # another rule's
        return
    folder = PurePosixPath(env.wheels) if env.wheels else lock.parent / "wheels"
    for package in packages if isinstance(packages, list) else ():
        wheels = package.get("wheels", []) if isinstance(package, dict) else []
        for wheel in wheels if isinstance(wheels, list) else ():
            name = str(wheel.get("name", "")) if isinstance(wheel, dict) else ""
            if name and context.kind(folder / name) != "file":
                yield name


def _fault(context: Context, env: Environment) -> str:
    """Return what is wrong with a carried interpreter, or an empty text."""
    place = PurePosixPath(env.interpreter or "")
    if context.kind(place) != "file":
        return f"is not there: {place}"
    said = context.carried_interpreter(place)
    if said is None:
        return f"does not say what it is: {place}"
    if env.python and not f"{said.python}.".startswith(f"{env.python}."):
        return f"is Python {said.python}, and the environment is for {env.python}"
    if env.platforms and said.platform not in env.platforms:
        return f"is for {said.platform}, and the environment for {', '.join(env.platforms)}"
    return ""
