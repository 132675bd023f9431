"""The command line: a thin layer over `rra.api`."""
