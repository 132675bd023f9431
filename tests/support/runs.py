"""Small artifacts and the environment of the tests themselves, to run launchers for real."""

from __future__ import annotations

import atexit
import json
import shutil
import sys
import venv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from rra._base import canonical
from rra.artifact import Artifact, load_artifact
from rra.environment import MaterialisedEnvironment
from rra.evidence import EvidenceStore
from rra.launch import RunRequest

NONCE = "0123456789abcdef"


def write_artifact(
    root: Path,
    files: Mapping[str, str | bytes],
    *,
    launchers: Mapping[str, Mapping[str, Any]] | None = None,
    **manifest: Any,
) -> Artifact:
    """Write an artifact with its code in ``code/`` and return it.

    Args:
        root: Folder of the artifact.
        files: Content by path in the artifact; ``launchers/main.sh`` is the usual entry.
        launchers: What the manifest says of each; one called ``main`` by default, with
            ``metrics.json`` as its output.
        manifest: More top-level keys.
    """
    default = {"main": {"outputs": ["metrics.json"]}}
    declared = {
        name: {"entry": f"launchers/{name}.sh", "environment": "host", **launcher}
        for name, launcher in (launchers or default).items()
    }
    selector = {"launcher": next(iter(declared)), "file": "metrics.json", "json": "/accuracy"}
    outcome = {"type": "number", "reported": "98.9", "selector": selector}
    document = {
        "rra": "1.0",
        "name": "small",
        "version": "1.0.0",
        "license": "MIT",
        "environments": {"host": {"kind": "system", "python": "3.11"}},
        "launchers": declared,
        "experiments": {"table": {"outcomes": {"accuracy": outcome}}},
        **manifest,
    }
    for name, content in {"rra.yaml": json.dumps(document, indent=1), **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    (root / "code").mkdir(exist_ok=True)
    return load_artifact(root)


@cache
def host_environment() -> MaterialisedEnvironment:
    """Return a virtual environment of the Python that runs the tests, without packages."""
    root = Path(mkdtemp(prefix="rra-test-environment-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    venv.create(root, symlinks=True)
    return MaterialisedEnvironment(
        id="host",
        root=root,
        python=root / "bin" / "python",
        bin=root / "bin",
        version=sys.version.split()[0],
        base_prefix=Path(sys.base_prefix),
        variables={},
        packages=(),
        lock_digest="sha256:" + "1" * 64,
        installed_digest=canonical.digest([]),
    )


def request(artifact: Artifact, launcher: str = "main", **changes: Any) -> RunRequest:
    """Return a request to run a launcher in the environment of the tests, evidence kept."""
    values: dict[str, Any] = {
        "artifact": artifact,
        "launcher": launcher,
        "environment": host_environment(),
        "outputs_root": artifact.root / "outputs",
        "evidence": EvidenceStore(artifact.root / "evidence"),
        "nonce": NONCE,
        **changes,
    }
    return RunRequest(**values)


def path_without(folder: Path, *tools: str) -> str:
    """Return a PATH that holds what the system has but for some tools, made of links."""
    for directory in ("/usr/local/bin", "/usr/bin", "/bin"):
        for program in Path(directory).iterdir():
            link = folder / program.name
            if program.name not in tools and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)
