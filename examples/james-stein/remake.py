"""Makes the evidence and the references of this example again; see ``examples/remaking.py``.

``.venv/bin/python examples/james-stein/remake.py``
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from remaking import LeftOut, remake

if __name__ == "__main__":
    remake(
        Path(__file__).resolve().parent,
        [
            LeftOut("0001", "batting"),
            LeftOut("0002", "batting"),
            LeftOut("0003", "batting"),
            LeftOut("0004", "batting", fails=False),
            LeftOut("0005", "batting"),
        ],
    )
