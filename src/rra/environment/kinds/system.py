"""Kind ``system``: what the operating system has; nothing is installed, only looked for."""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path

from rra._base import canonical, process
from rra.environment.kinds.containerfile import debian_packages
from rra.environment.kinds.protocol import (
    BuildRequest,
    Built,
    Description,
    KindLock,
    LockRequest,
)
from rra.errors import EnvironmentBuildError
from rra.model import Environment

_QUERY = "${db:Status-Status} ${Package} ${Version}\n"


@dataclasses.dataclass(frozen=True, slots=True)
class SystemKind:
    """Finds out whether the system has the packages that an environment names."""

    name: str = "system"

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
            UsageError: A package has a name that no distribution has.
        """
        env = request.artifact.manifest.environments[request.id]
        wanted = [name.partition("=")[0] for name in debian_packages(request.id, env)]
        found = installed_versions(wanted)
        missing = [name for name in wanted if name not in found]
        if missing:
            message = f"environment {request.id} needs packages that are not installed here: "
            hint = f"apt-get install {' '.join(missing)}"
            raise EnvironmentBuildError(message + ", ".join(missing), hint=hint)
        release = platform.freedesktop_os_release().get("ID", "") if wanted else ""
        digest = canonical.digest({"system": release, "packages": dict(sorted(found.items()))})
        return Built(id=request.id, kind=self.name, digest=digest)


def installed_versions(packages: list[str]) -> dict[str, str]:
    """Return the version of each Debian package that is installed; the others are left out."""
    program = process.find_tool("dpkg-query")
    if program is None or not packages:
        return {}
    done = process.run([program, "-W", "-f", _QUERY, "--", *packages], timeout=60)
    lines = [line.split(" ") for line in done.stdout.splitlines()]
    return {parts[1]: parts[2] for parts in lines if len(parts) == 3 and parts[0] == "installed"}
