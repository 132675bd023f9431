"""Audit: from a reported value to what made it, and whether it was made at all."""
