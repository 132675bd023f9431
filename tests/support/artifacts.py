"""Tiny complete artifacts for tests: one launcher, standard library only, nothing to download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.artifact import load_artifact
from rra.evidence import EvidenceStore
from rra.launch import RunRequest, RunResult, build_environment, run_launcher
from rra.sandbox import best_sandbox

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rra.artifact import Artifact

PYTHON = "3.11"

RIGHT = "import json\nright = sum(1 for n in range(89) if n != 7)\n"
COMPUTES = RIGHT + 'print(json.dumps({"accuracy": 100 * right / 89}))\n'
"""Computes 88 of 89, 98.876… %, which rounds to the 98.9 that `outcome` reports."""

DEVIATES = COMPUTES.replace("n != 7", "n % 23")
"""Computes 85 of 89, 95.505… %."""

PYLOCK = f"""\
lock-version = "1.0"
requires-python = "=={PYTHON}.*"
created-by = "rra"
packages = []
"""


def outcome(
    reported: str | list[str] = "98.9",
    *,
    launcher: str = "main",
    file: str = "metrics.json",
    **more: Any,
) -> dict[str, Any]:
    """Return an outcome read from `/accuracy` of `metrics.json`, unless told otherwise.

    Keys that belong to a selector (json, csv, regex, npz, pick, aggregate, runs, file_unit) go
    there, all others to the outcome.
    """
    selector: dict[str, Any] = {"launcher": launcher, "file": file}
    for key in ("json", "csv", "regex", "npz", "pick", "aggregate", "runs"):
        if key in more:
            selector[key] = more.pop(key)
    if "file_unit" in more:
        selector["unit"] = more.pop("file_unit")
    if not {"json", "csv", "regex", "npz"} & set(selector):
        selector["json"] = "/accuracy"
    return {"type": "number", "reported": reported, "selector": selector, **more}


def manifest(**changes: Any) -> dict[str, Any]:
    """Return a small manifest; `changes` replace whole top-level keys."""
    document: dict[str, Any] = {
        "rra": "1.0",
        "name": "tiny",
        "version": "1.0.0",
        "license": "MIT",
        "environments": {
            "cpu": {"kind": "pylock", "python": PYTHON, "lock": "environment/cpu/pylock.toml"}
        },
        "launchers": {
            "main": {
                "entry": "launchers/main.sh",
                "environment": "cpu",
                "outputs": ["metrics.json"],
                "deterministic": True,
            }
        },
        "experiments": {"table": {"outcomes": {"accuracy": outcome()}}},
    }
    return {**document, **changes}


def make_artifact(
    root: Path,
    files: Mapping[str, str | bytes],
    *,
    command: str = 'python main.py > "$RRA_OUTPUT_DIR/metrics.json"',
    **changes: Any,
) -> Artifact:
    """Write an artifact and load it.

    Args:
        root: Directory to make it in.
        files: Files of the code (or any other, by their path in the artifact); paths without a
            folder of the artifact in front go into ``code/``.
        command: What ``launchers/main.sh`` runs in the copy of the code.
        changes: Top-level keys of the manifest.
    """
    owned = ("code", "data", "guide", "launchers", "environment", "evidence", "outputs")
    written: dict[str, str | bytes] = {
        "rra.yaml": json.dumps(manifest(**changes), indent=2) + "\n",
        "launchers/main.sh": f"#!/usr/bin/env bash\nset -euo pipefail\n{command}\n",
        "environment/cpu/pylock.toml": PYLOCK,
        "environment/cpu/requirements.txt": "",
        "environment/cpu/README.md": f"Python {PYTHON}, no packages.\n",
        "README.md": "# tiny\n",
    }
    for name, content in files.items():
        inside = name.split("/", 1)[0] in owned or name in written
        written[name if inside else f"code/{name}"] = content
    for name, content in written.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_artifact(root)


def record_run(artifact: Artifact, launcher: str = "main", *, sandbox: str = "none") -> RunResult:
    """Run a launcher as `rra run` does: outputs into ``outputs/``, a record into ``evidence/``."""
    return run_launcher(
        RunRequest(
            artifact=artifact,
            launcher=launcher,
            environment=build_environment(
                artifact, artifact.manifest.launchers[launcher].environment
            ),
            outputs_root=artifact.root / "outputs",
            evidence=EvidenceStore(artifact.root / "evidence"),
            nonce="0" * 32,
            sandbox=best_sandbox(sandbox),
        )
    )
