"""Which language a repository is written in, by what there is most of."""

from __future__ import annotations

from rra.scan import Scan

_COUNTED = {
    "Python": "Python",
    "Jupyter Notebook": "Python",
    "R": "R",
    "Julia": "Julia",
    "MATLAB": "MATLAB",
}


def main_language(scan: Scan) -> str:
    """Return ``Python``, ``R``, ``Julia`` or ``MATLAB``; Python where there is none of them.

    Compiled languages do not count: a launcher builds them with what its environment has.
    """
    sizes: dict[str, int] = {}
    for one in scan.traits.languages:
        name = _COUNTED.get(one.name)
        if name is not None:
            sizes[name] = sizes.get(name, 0) + one.size
    return max(sizes, key=lambda name: sizes[name], default="Python")
