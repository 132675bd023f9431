"""``rra registry logout``: a registry's login is forgotten."""

from __future__ import annotations

import dataclasses
from typing import Any

from rra.api._registry_login import registry_name
from rra.api._result import Progress, VerbResult, silent
from rra.errors import Problem


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogoutReport(VerbResult):
    """Logins that are forgotten; none is an answer too.

    Attributes:
        registry: ``HOST[:PORT]``.
        removed_from: Files, and helpers with the file that names them.
        token_host_forgotten: Whether a token service on another host was recorded for it.
    """

    registry: str
    removed_from: tuple[str, ...]
    token_host_forgotten: bool

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "registry": self.registry,
            "removed_from": list(self.removed_from),
            "token_host_forgotten": self.token_host_forgotten,
        }


def registry_logout(registry: str, *, progress: Progress = silent) -> LogoutReport:
    """Take a registry's login out of every file and helper that is looked into; no other one.

    Args:
        registry: ``HOST[:PORT]``; ``docker.io`` for Docker Hub.
        progress: Called with one line.

    Raises:
        UsageError: It is no name of a registry, or a credential file cannot be read.
        UnavailableError: A file cannot be written, or a helper refuses.
    """
    from rra.registry.logins import forget_login
    from rra.registry.origin import origin_of_registry
    from rra.registry.tokenhosts import forget_token_host

    name = registry_name(registry)
    progress(f"forgetting the login of {name}")
    forgotten = forget_login(name)
    services = [forget_token_host(origin_of_registry(name, scheme)) for scheme in ("https", "http")]
    return LogoutReport(
        registry=name,
        removed_from=forgotten.places,
        token_host_forgotten=any(services),
        problems=tuple(
            Problem(
                f"a login for {key} alone stays",
                path,
                hint=f"podman logout {key}",
                severity="warning",
            )
            for key, path in forgotten.left
        ),
    )
