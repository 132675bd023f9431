"""Files and seeds of code in other languages."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.scan.foreign import read_foreign


@pytest.mark.parametrize(
    ("name", "code", "reads", "writes"),
    [
        ("a.R", 'x <- read.csv("data/x.csv")', ["data/x.csv"], []),
        ("a.R", 'd <- "data"\nx <- readRDS(file.path(d, "x.rds"))', ["data/x.rds"], []),
        ("a.R", 'saveRDS(x, file = here::here("out", "x.rds"))', [], ["out/x.rds"]),
        ("a.R", 'write.csv(coef(fit), "out/c.csv", row.names = FALSE)', [], ["out/c.csv"]),
        ("a.R", 'ggsave("fig.pdf", p)\n# read.csv("no.csv")', [], ["fig.pdf"]),
        ("a.R", "args <- commandArgs(TRUE)\nx <- read.csv(args[1])", ["{=1}"], []),
        ("a.R", 'x <- read.csv(opt$input)\nload("a/b.RData")', ["{=input}", "a/b.RData"], []),
        ("a.R", 'x <- read.csv("https://e.org/x.csv")', [], []),
        ("a.jl", 'df = CSV.read("data/x.csv", DataFrame)', ["data/x.csv"], []),
        ("a.jl", 'serialize("fit.jls", deserialize("in.jls"))', ["in.jls"], ["fit.jls"]),
        ("a.jl", 'open(joinpath("out", "x.txt"), "w") do io\nend', [], ["out/x.txt"]),
        ("a.jl", 'savefig(p, "f.png")', [], ["f.png"]),
        (
            "a.pl",
            'open(my $in, "<", "gold.txt");\nopen(OUT, ">", "o.txt");',
            ["gold.txt"],
            ["o.txt"],
        ),
        ("a.m", "x = load('data/x.mat'); save('out/y.mat', 'x');", ["data/x.mat"], ["out/y.mat"]),
        ("a.cpp", 'std::ifstream in("mesh.off");', ["mesh.off"], []),
        ("a.Rmd", '# x\n\nread.csv("no.csv")\n\n```{r}\nread.csv("y.csv")\n```\n', ["y.csv"], []),
    ],
)
def test_files_by_name_and_simple_patterns(
    name: str, code: str, reads: list[str], writes: list[str]
) -> None:
    found = read_foreign(PurePosixPath(name), code)
    assert [use.pattern for use in found.reads] == reads
    assert [use.pattern for use in found.writes] == writes


@pytest.mark.parametrize(
    ("name", "code", "value"),
    [
        ("a.R", "set.seed(1234)", "1234"),
        ("a.R", "set.seed(opts$seed)", ""),
        ("a.jl", "using Random\nRandom.seed!(5)", "5"),
        ("a.m", "rng(42)", "42"),
        ("a.cpp", "int main() { std::mt19937 rng(42); }", "42"),
        ("a.pl", "srand(7);", "7"),
    ],
)
def test_seeds(name: str, code: str, value: str) -> None:
    (seed,) = read_foreign(PurePosixPath(name), code).seeds
    assert seed.value == value


def test_a_comment_seeds_nothing() -> None:
    assert read_foreign(PurePosixPath("a.R"), "# set.seed(1)\nx <- 1").seeds == ()
