"""Old releases whose metadata no resolver of today accepts, with what it meant.

pandas up to 0.24.2 requires ``pytz>=2011k``, which is no version by PEP 440. A resolver then
refuses those releases and slides to one from many years before, without a word: the newest
pandas of 2019 becomes 0.11. The table says the same requirements in valid form.

Reviewed against the ``METADATA`` of the releases' own wheels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from rra.environment.undeclared import KNOWN, Needs

_PANDAS = (
    (
        ("0.19.0", "0.19.1", "0.19.2", "0.20.0", "0.20.1", "0.20.2", "0.20.3"),
        ("numpy>=1.7.0", "python-dateutil>=2", "pytz>=2011"),
    ),
    (
        ("0.21.0", "0.21.1", "0.22.0"),
        ("numpy>=1.9.0", "python-dateutil>=2", "pytz>=2011"),
    ),
    (
        ("0.23.0", "0.23.1", "0.23.2", "0.23.3", "0.23.4"),
        ("numpy>=1.9.0", "python-dateutil>=2.5.0", "pytz>=2011"),
    ),
    (
        ("0.24.0", "0.24.1", "0.24.2"),
        ("numpy>=1.12.0", "python-dateutil>=2.5.0", "pytz>=2011"),
    ),
)
_TABLES = {"pandas": _PANDAS}


def legacy_configuration(needs: Needs = KNOWN) -> str:
    """Return the table as a ``uv.toml``, which uv merges with the reader's own.

    Args:
        needs: What builds need besides what they declare.
    """
    lines = [*_entries(), "[extra-build-dependencies]"]
    lines += [f"{json.dumps(name)} = {json.dumps(list(more))}" for name, more in needs.items()]
    return "\n".join(lines)


def _entries() -> Iterator[str]:
    for name, rows in _TABLES.items():
        for versions, requirements in rows:
            for version in versions:
                yield "[[dependency-metadata]]"
                yield f"name = {json.dumps(name)}"
                yield f"version = {json.dumps(version)}"
                yield f"requires-dist = {json.dumps(list(requirements))}"
