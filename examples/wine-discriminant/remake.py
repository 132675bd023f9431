"""Makes the evidence and the references of this example again; see ``examples/remaking.py``.

``.venv/bin/python examples/wine-discriminant/remake.py``
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from remaking import LeftOut, remake

if __name__ == "__main__":
    # Without 0001 the locking fails, so there is no run that it could be left out of.
    numbers = ("0002", "0003", "0004", "0005", "0006")
    remake(Path(__file__).resolve().parent, [LeftOut(number, "table1") for number in numbers])
