from __future__ import annotations

import pytest

from rra.scan.blocks import block_lines
from rra.scan.consoles import console_call, console_file, console_installs


@pytest.mark.parametrize(
    ("info", "line", "kept"),
    [
        ("r", 'install.packages("renv")', 1),
        ("r", "> renv::restore()", 1),
        ("r", 'source("analysis/fit.R")  # slow', 1),
        ("r", "fit <- lm(y ~ x)", 0),
        ("julia", "julia> using Pkg; Pkg.instantiate()", 1),
        ("julia", 'include("scripts/fit.jl")', 1),
        ("julia", "plot(x)", 0),
        ("matlab", "run('fit.m')", 1),
        ("python", "source('x')", 0),
    ],
)
def test_what_is_typed_at_the_prompt_of_another_language(info: str, line: str, kept: int) -> None:
    assert len(block_lines([(1, line)], 1, info)) == kept


@pytest.mark.parametrize(
    ("text", "language", "file", "installs"),
    [
        ('source("a/fit.R")', "r", "a/fit.R", 0),
        ('rmarkdown::render(input = "paper.Rmd")', "r", "paper.Rmd", 0),
        ('renv::install("dplyr")', "r", "", 1),
        ('include("fit.jl")', "julia", "fit.jl", 0),
        ('Pkg.add("Plots")', "julia", "", 1),
        ("run fit", "matlab", "fit.m", 0),
        ("python fit.py", "", "", 0),
    ],
)
def test_files_that_are_run_there(text: str, language: str, file: str, installs: int) -> None:
    assert (console_call(text), console_file(text)) == (language, file)
    if language:
        assert console_installs(text) == installs
