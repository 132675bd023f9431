from __future__ import annotations

import dataclasses
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import Artifact, load_artifact
from rra.model import Paper
from rra.report import render_badge, render_html, render_markdown
from rra.verify.documents import OutcomeReproduction
from tests.lint.support import write_artifact
from tests.unit.report import samples

VOID = {"meta", "br", "hr", "img", "link", "col", "input"}


class Parsed(HTMLParser):
    """Checks that elements are closed in order, and keeps what a browser would see."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.parts: list[str] = []
        self.feed(document)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.stack:
            self.parts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())

    def values(self, name: str) -> list[str]:
        return [value or "" for _, found, value in self.attributes if found == name]


def full(artifact: Artifact) -> str:
    lint = {
        "findings": [
            {"rule": "RRA102", "severity": "warning", "message": "x", "path": "a.py", "line": 3}
        ]
    }
    return render_html(
        artifact, reproduction=samples.reproduction(), audit=samples.audit(), lint=lint
    )


def test_the_page_runs_nothing_and_asks_nobody(artifact: Artifact) -> None:
    page = Parsed(full(artifact))
    forbidden = {"script", "img", "link", "iframe", "object", "embed", "base", "form", "video"}
    assert not forbidden & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert page.values("src") == page.values("srcset") == page.values("style") == []
    links = page.values("href")
    assert [link for link in links if not link.startswith("#")] == ["https://example.org/paper"]
    style = re.search(r"<style>(.*?)</style>", full(artifact), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert "default-src 'none'" in page.values("content")[0]


@pytest.mark.clause("security/pages-escape")
def test_hostile_text_is_shown_as_text(artifact: Artifact) -> None:
    document = full(artifact)
    page = Parsed(document)
    assert '<script>alert("x")</script> & "quoted"' in page.text
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "<svg onload=alert(3)>.json:3" in page.text
    assert "+print('<script>hello</script>')" in page.text
    assert "\u202e" not in document
    assert "[U+202E]evil" in page.text


def test_ids_are_unique_and_links_arrive(artifact: Artifact) -> None:
    page = Parsed(full(artifact))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.values("href") if link.startswith("#")} <= set(ids)
    assert set(page.values("aria-labelledby")) <= set(ids)


def test_the_same_documents_give_the_same_bytes(artifact: Artifact) -> None:
    assert full(artifact) == full(artifact)


def test_no_path_of_this_machine_is_in_the_page(artifact: Artifact) -> None:
    assert str(artifact.root) not in full(artifact)


@pytest.mark.parametrize(
    "text",
    [
        "3 of 8 declared outcomes were reproduced.",
        "Level L1 · 8 outcomes declared. The next level lacks: a launcher failed.",
        "3f9c1a77e0b24d58",
        "2 of 2",
        "Debian GNU/Linux 12 (bookworm) · Linux 6.1.0 · Example CPU @ 2.50GHz × 2 · 8.0 GiB",
        "98.9\u202f%",
        "98.876404\u202f%",
        "≈ deviates as documented",
        "The artifact announces 95.5\u202f%:",
        "HARDCODED · The value is copied from results/accuracy.csv:4",
        "run 1: results/accuracy.csv:4: 97.2 → 91.6 gave table1/copied = 91.6",
        "could not run (launcher failed)",
        "inconclusive (single run)",
        "2 more runs would decide",
        "h\u00a0=\u00a01.31\u202f%; z\u00a0=\u00a00.2",
        "a shift of 1.1 … 4.8\u202f% is caught 4 times in 5",
        "metrics.json:3",
        "launchers/lda.sh",
        samples.D,
        "The patch guide/repairs/0002-lost.patch is not there.",
        "inferred: code/main.py:12",
        "none → 76.9 %",
        "Isolation: memory is not limited.",
        "Recorder: reads are not observed.",
        "α for one outcome 0.007143",
        "RRA102",
    ],
)
def test_what_a_reader_looks_for_is_there(artifact: Artifact, text: str) -> None:
    normal = " ".join(text.split(" "))
    assert " ".join(normal.split()) in Parsed(full(artifact)).text


def test_hard_coding_stands_above_everything_else_of_its_outcome(artifact: Artifact) -> None:
    document = full(artifact)
    article = document.split('<article id="outcome-4">')[1].split("</article>")[0]
    assert article.index("HARDCODED") < article.index("<svg")
    assert article.count("it followed a change there both ways") == 1
    assert "<code>results/accuracy.csv:4</code>" in article


def test_what_speaks_for_an_outcome_is_no_alarm(artifact: Artifact) -> None:
    article = full(artifact).split('<article id="outcome-1">')[1].split("</article>")[0]
    assert "not copied" in article
    assert "HARDCODED" not in article


def test_without_any_run_the_page_says_so(artifact: Artifact) -> None:
    page = Parsed(render_html(artifact))
    assert "8 declared outcomes, not verified: no new run stands behind these numbers" in page.text
    assert "Nothing was run." in page.text
    assert "obtained" not in page.text
    assert "reproduced" not in page.text.replace("not reproduced", "")


def test_an_audit_alone_is_no_verification(artifact: Artifact) -> None:
    page = Parsed(render_html(artifact, audit=samples.audit()))
    assert "audited but not verified" in page.text
    assert "HARDCODED" in page.text
    assert "There was no verification" in page.text


def test_without_references_only_agreement_is_claimed(artifact: Artifact) -> None:
    document = samples.reproduction()
    document["outcomes"] = document["outcomes"][1:2]
    page = Parsed(render_html(artifact, reproduction=document))
    assert "Agreement only: there were no reference runs by others" in page.text


def test_missing_and_odd_parts_do_no_harm(artifact: Artifact) -> None:
    odd: list[dict[str, Any]] = [
        {"outcomes": [{"outcome": "table1/lda", "verdict": "new_word", "values": [None, {}]}]},
        {"outcomes": "none", "plan": [], "machine": "unknown", "runs": [1, None]},
        {"plan": {"alpha": "NaN", "outcomes": [{"alpha": None}]}, "level": None},
        {"outcomes": [{"outcome": "table1/lda", "values": ["NaN", "1e400", "-Infinity"]}]},
    ]
    for document in odd:
        Parsed(render_html(artifact, reproduction=document, audit=document))


def test_the_smallest_artifact_has_a_page(tmp_path: Path) -> None:
    page = Parsed(render_html(load_artifact(write_artifact(tmp_path))))
    assert "1 declared outcome, not verified" in page.text


@pytest.mark.clause("security/pages-escape")
def test_an_address_that_is_no_web_address_is_not_linked(tmp_path: Path) -> None:
    whole = load_artifact(write_artifact(tmp_path))
    paper = Paper.model_construct(title="T", url="javascript:alert(1)")  # no reader takes it
    manifest = whole.manifest.model_copy(update={"paper": paper})
    page = Parsed(render_html(dataclasses.replace(whole, manifest=manifest)))
    assert "javascript:alert(1)" in page.text
    assert not [link for link in page.values("href") if not link.startswith("#")]


def test_the_samples_are_what_verify_writes() -> None:
    for outcome in samples.outcomes():
        if outcome["trace"] is not None:
            OutcomeReproduction.model_validate(outcome)


def test_markdown_is_short_and_escaped(artifact: Artifact) -> None:
    text = render_markdown(artifact, reproduction=samples.reproduction())
    assert "| table1/knn | Table 1, row 1-NN | 96.1 % | 95.505618 % |" in text
    assert "≈ deviates as documented" in text
    assert "- **HARDCODED** table1/copied:" in text
    assert "(`results/accuracy.csv:4`)" in text
    assert "<script" not in text.replace("\\<script", "")
    assert "\u202e" not in text
    assert len(text.splitlines()) < 40


def test_markdown_without_any_run(artifact: Artifact) -> None:
    text = render_markdown(artifact)
    assert "not verified" in text
    assert "obtained" not in text


def test_the_badge_counts(artifact: Artifact) -> None:
    badge = render_badge(artifact, reproduction=samples.reproduction())
    assert "<title>rra: 3 of 8 reproduced</title>" in badge
    assert "#b3261e" in badge
    assert "not verified" in render_badge(artifact)
