"""Makes the evidence and the references of this example again; see ``examples/remaking.py``.

``.venv/bin/python examples/least-angle-regression/remake.py``
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from remaking import LeftOut, remake

if __name__ == "__main__":
    numbers = ("0001", "0002", "0003", "0004", "0005")
    remake(Path(__file__).resolve().parent, [LeftOut(number, "main-effects") for number in numbers])
