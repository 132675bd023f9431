"""Reading candidates for a value out of one file: one module for each kind of file."""

from __future__ import annotations
