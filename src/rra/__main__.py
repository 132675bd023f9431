"""Lets ``python -m rra`` do what the ``rra`` command does."""

from __future__ import annotations

from rra.cli.main import main

if __name__ == "__main__":
    main()
