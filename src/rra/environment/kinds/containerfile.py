"""The Containerfile of an environment: a base by digest, system packages, variables."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

from rra.errors import UsageError
from rra.model import Environment

_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+(?::[a-z0-9]+)?(?:=[A-Za-z0-9.+:~-]+)?")
"""Name of a Debian package, an architecture and a version (Debian Policy, 5.6.1 and 5.6.12)."""

_DEBIAN = ("debian", "ubuntu")


def render_containerfile(env_id: str, env: Environment) -> str:
    """Write the Containerfile of an environment; the same environment gives the same bytes.

    Raises:
        UsageError: It names neither a base image nor system files, both, or a package whose
            name no distribution has.
    """
    lines = [f"# Environment {env_id}; written by rra lock.", *_base(env_id, env)]
    for name, value in sorted((env.variables or {}).items()):
        lines.append(f"ENV {name}={json.dumps(value).replace('$', chr(92) + '$')}")
    packages = debian_packages(env_id, env)
    if packages:
        lines += [
            "RUN apt-get update \\",
            " && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\",
            *(f"      {package} \\" for package in packages),
            " && rm -rf /var/lib/apt/lists/*",
        ]
    return "\n".join(lines) + "\n"


def debian_packages(env_id: str, env: Environment) -> list[str]:
    """Return the packages of Debian or Ubuntu that an environment names, sorted.

    Raises:
        UsageError: A name is none of a package.
    """
    wanted = env.system_packages or {}
    found = sorted({name for distribution in _DEBIAN for name in wanted.get(distribution, [])})
    for name in found:
        if not _PACKAGE.fullmatch(name):
            message = f"environment {env_id} names {name!r}, which is no name of a Debian package"
            raise UsageError(message, hint="write name or name=version under system_packages")
    return found


def _base(env_id: str, env: Environment) -> list[str]:
    if env.base_image and env.rootfs:
        message = f"environment {env_id} has both base_image and rootfs"
        raise UsageError(message, hint="keep one of them: what the image is built on")
    if env.base_image:
        return [f"FROM {env.base_image}"]
    if env.rootfs:
        return ["FROM scratch", f"ADD {json.dumps([PurePosixPath(env.rootfs).name, '/'])}"]
    message = f"environment {env_id} says nothing that a container could be built on"
    hint = "add base_image: NAME@sha256:… or rootfs: environment/…/rootfs.tar"
    raise UsageError(message, hint=hint)
