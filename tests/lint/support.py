"""The smallest valid artifact, and artifacts that differ from it by a few files."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from ruamel.yaml import YAML

from rra._base.files import walk_files
from rra.artifact import tree_id

SOURCE = "swh:1:dir:9269075e638b383f836e5e65346a3dc2cd6e56c5"
"""What ``git write-tree`` gives for the code of the smallest artifact."""

WHEEL = "six-1.16.0-py2.py3-none-any.whl"
SHA256 = "8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254"

MANIFEST = """\
rra: "1.0"
name: wine-discriminant
version: 1.0.0
license: MIT
source: {swhid: "swh:1:dir:9269075e638b383f836e5e65346a3dc2cd6e56c5"}
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
launchers:
  lda: {entry: launchers/lda.sh, environment: cpu, outputs: [metrics.json]}
experiments:
  table1:
    outcomes:
      accuracy:
        type: number
        reported: "98.9"
        unit: percent
        selector: {launcher: lda, file: metrics.json, json: /accuracy, unit: fraction}
"""

BASE: dict[str, str] = {
    "rra.yaml": MANIFEST,
    "README.md": "# Wine discriminant\n",
    "LICENSE": "MIT License\n",
    "code/main.py": "print('hello')\n",
    "environment/cpu/README.md": "Python 3.11 and six.\n",
    "environment/cpu/requirements.txt": f"six==1.16.0 \\\n    --hash=sha256:{SHA256}\n",
    "environment/cpu/pylock.toml": (
        'lock-version = "1.0"\ncreated-by = "rra"\n\n[[packages]]\nname = "six"\n'
        f'version = "1.16.0"\nwheels = [{{name = "{WHEEL}", path = "wheels/{WHEEL}", '
        f'size = 11053, hashes = {{sha256 = "{SHA256}"}}}}]\n'
    ),
    "launchers/lda.sh": "#!/usr/bin/env bash\npython main.py\n",
    "guide/GUIDE.md": "# Guide\n",
    "guide/settings.yaml": "{}\n",
    "guide/repairs.yaml": "{}\n",
}


def write_artifact(
    root: Path,
    files: Mapping[str, str | bytes] | None = None,
    *,
    remove: Iterable[str] = (),
) -> Path:
    """Write the smallest valid artifact with some files replaced, added or left out.

    Of ``rra.yaml`` only top-level keys are given: they stand in for those of the base, and a
    key whose value is null is left out. A text that starts with ``rra:`` is taken whole.
    """
    content: dict[str, str | bytes] = {**BASE, **(files or {})}
    content["rra.yaml"] = _manifest(content["rra.yaml"])
    for name in remove:
        del content[name]
    for name, data in content.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
    if any(name.startswith("code/") for name in files or ()):
        _name_source(root)
    return root


def _name_source(root: Path) -> None:
    """Let the manifest name the tree of other code than the base's as its source."""
    manifest = root / "rra.yaml"
    text = manifest.read_text("utf-8")
    if SOURCE in text:
        code = root / "code"
        manifest.write_text(text.replace(SOURCE, tree_id(code, walk_files(code))), "utf-8")


def _manifest(text: str | bytes) -> str | bytes:
    """Put top-level sections of a manifest in the place of those of the base."""
    if isinstance(text, bytes) or text.startswith("rra:"):
        return text
    given = YAML(typ="safe").load(text) or {}
    sections = _sections(MANIFEST)
    sections.update(_sections(text))
    return "".join(body for key, body in sections.items() if given.get(key, "") is not None)


def _sections(text: str) -> dict[str, str]:
    """Split a document into its top-level keys, each with its lines."""
    found: dict[str, str] = {}
    key = ""
    for line in io.StringIO(text):
        if line[:1] not in {" ", "\n", "#"}:
            key = line.split(":", 1)[0]
            found[key] = ""
        found[key] += line
    return found
