"""Kind ``system``: what the operating system has; nothing is installed, only looked for."""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path

from rra._base import canonical, process
from rra.environment.built import Built, named_environment
from rra.environment.interpreter import find_interpreter
from rra.environment.kinds.containerfile import debian_packages
from rra.environment.kinds.described import DescribedKind
from rra.environment.kinds.protocol import (
    Ability,
    BuildRequest,
    Description,
    KindLock,
    LockRequest,
)
from rra.errors import EnvironmentBuildError
from rra.model import Environment

INSTALLED_FORMAT = "${db:Status-Status} ${Package} ${Version}\\n"
"""How ``dpkg-query -W -f`` is asked; it writes the line end itself."""


@dataclasses.dataclass(frozen=True, slots=True)
class SystemKind(DescribedKind):
    """Finds out whether the system has the packages that an environment names."""

    name: str = "system"

    def can(self) -> frozenset[Ability]:
        """Return what this kind does: it looks for packages, and launchers run with them."""
        return frozenset({"lock", "build", "run"})

    def detect(self, root: Path) -> tuple[str, ...]:  # noqa: ARG002 - the same for each
        """Return nothing: no file describes a system."""
        return ()

    def describe(self, root: Path, env: Environment) -> Description:  # noqa: ARG002 - as above
        """Say which packages it names."""
        wanted = env.system_packages or {}
        packages = (
            f"{distribution}: {one}" for distribution in wanted for one in wanted[distribution]
        )
        return Description(
            kind=self.name,
            packages=tuple(sorted(packages)),
            rebuilt="by installing these packages; their versions are those of the system",
        )

    def lock(self, request: LockRequest) -> KindLock:
        """Write nothing: a system is not fixed by a file.

        Raises:
            UsageError: A package has a name that no distribution has.
        """
        return KindLock(lock=None, packages=tuple(debian_packages(request.id, request.env)))

    def build(self, request: BuildRequest) -> Built:
        """Find the packages on this machine; its digest names their versions.

        Raises:
            EnvironmentBuildError: Packages are missing; says how to install them.
            ToolMissingError: The Python that it names is not installed here.
            UsageError: A package has a name that no distribution has.
        """
        env = named_environment(request.artifact, request.id)
        wanted = _wanted(request.id, env)
        found = installed_versions(wanted)
        missing = [name for name in wanted if name not in found]
        if missing:
            message = f"environment {request.id} needs packages that are not installed here: "
            hint = f"apt-get install {' '.join(missing)}"
            raise EnvironmentBuildError(message + ", ".join(missing), hint=hint)
        release = platform.freedesktop_os_release().get("ID", "") if wanted else ""
        digest = canonical.digest({"system": release, "packages": dict(sorted(found.items()))})
        python = find_interpreter(env.python, download=False) if env.python else None
        return Built(
            id=request.id,
            root=None,
            python=python.path if python else None,
            bin=python.path.parent if python else None,
            version=python.version if python else "",
            base_prefix=python.base_prefix if python else None,
            variables=dict(env.variables or {}),
            packages=tuple(sorted(found.items())),
            lock_digest=system_digest(request.id, env),
            installed_digest=digest,
            reused=True,
            kind=self.name,
        )


def _wanted(env_id: str, env: Environment) -> list[str]:
    return [name.partition("=")[0] for name in debian_packages(env_id, env)]


def system_digest(env_id: str, env: Environment) -> str:
    """Return what stands for the lock of a system: the digest of the packages that it names.

    Raises:
        UsageError: A package has a name that no distribution has.
    """
    return canonical.digest({"system": sorted(_wanted(env_id, env))})


def installed_versions(packages: list[str]) -> dict[str, str]:
    """Return the version of each Debian package that is installed; the others are left out."""
    program = process.find_tool("dpkg-query")
    if program is None or not packages:
        return {}
    done = process.run([program, "-W", "-f", INSTALLED_FORMAT, "--", *packages], timeout=60)
    return parse_installed(done.stdout)


def parse_installed(text: str) -> dict[str, str]:
    """Return package and version of each line of ``dpkg-query`` that says that it is installed."""
    lines = [line.split(" ") for line in text.splitlines()]
    return {parts[1]: parts[2] for parts in lines if len(parts) == 3 and parts[0] == "installed"}
