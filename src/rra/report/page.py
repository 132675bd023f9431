"""What a report shows, ready to be written down: plain text, no field names of any document."""

from __future__ import annotations

import dataclasses
from typing import Literal

from rra.report.plot import Plot

Tone = Literal["good", "mixed", "bad", "none"]
"""Colour of a verdict; the word and a sign always say the same."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fact:
    """A label with its value; digests and commands are set in fixed width."""

    label: str
    value: str
    fixed: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict word as a document writes it, in words, and its colour."""

    word: str
    text: str
    tone: Tone


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """One finding: word, what it says, and the places that it is about.

    Attributes:
        word: Verdict word or short name.
        tone: ``bad`` when the outcome falls with it.
        message: One or two sentences.
        places: Files, with lines where they are known.
        details: What was tried and what came out, one line each.
    """

    word: str
    tone: Tone
    message: str
    places: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace: what it is, its name, its digest, and a remark."""

    label: str
    name: str
    digest: str = ""
    remark: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class OutcomeView:
    """One outcome.

    Attributes:
        key: ``<experiment>/<outcome>``.
        anchor: Its id in the page.
        location: Where the paper reports it.
        claimed: The reported value with unit and spread.
        obtained: What the new runs gave, with unit.
        agreement: Answer to the first question.
        repeatability: Answer to the second question.
        verdict: Both together.
        reason: Why.
        headline: Findings that decide, shown above everything else.
        findings: The other findings.
        plot: Values on one line; None for categories and lists.
        facts: Numbers behind the verdict.
        deviation: What the artifact says itself about the difference.
        trace: From the number back to the script.
    """

    key: str
    anchor: str
    location: str
    claimed: str
    obtained: str
    agreement: Verdict
    repeatability: Verdict
    verdict: Verdict
    reason: str
    headline: tuple[Found, ...] = ()
    findings: tuple[Found, ...] = ()
    plot: Plot | None = None
    facts: tuple[Fact, ...] = ()
    deviation: tuple[str, str] | None = None
    trace: tuple[Step, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class SettingView:
    """One setting of the experiment, with its reason."""

    name: str
    value: str
    source: str
    rationale: str
    alternatives: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class RepairView:
    """One repair with the text of its patch (None when the file is not there)."""

    key: str
    title: str
    category: str
    effect: str
    symptom: str
    cause: str
    rationale: str
    patch_file: str
    patch: str | None
    facts: tuple[Fact, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class EnvironmentView:
    """One environment."""

    key: str
    facts: tuple[Fact, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class RunView:
    """One run that was made: launcher, seed, how it ended, how long it took, its record."""

    launcher: str
    seed: str
    ended: str
    tone: Tone
    seconds: str
    memory: str
    record: str


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """The whole report.

    Attributes:
        title: Title of the artifact or of the paper.
        name: Name and version of the artifact.
        description: What the artifact is, in its author's words.
        paper: Reference of the paper, and its address if it has one.
        verified: Whether there is a verification to report.
        headline: The result in one sentence.
        tone: Its colour.
        level: Level that was earned, with what it covers; empty when none was.
        counts: Verdicts and how many outcomes have them.
        run: Who, when, where and how isolated.
        runs: Each run that was made.
        outcomes: In the order of the manifest.
        settings: By name.
        repairs: In the order in which they apply.
        equality: Whether upstream and repairs give the code.
        environments: By id.
        plan: What was fixed before the run.
        limits: What the evidence does not show.
        lint: Findings of the linter, or None when it was not asked.
        footer: Who made the report.
    """

    title: str
    name: str
    description: str
    paper: tuple[str, str] | None
    verified: bool
    headline: str
    tone: Tone
    level: str
    counts: tuple[tuple[Verdict, int], ...]
    run: tuple[Fact, ...]
    runs: tuple[RunView, ...]
    outcomes: tuple[OutcomeView, ...]
    settings: tuple[SettingView, ...]
    repairs: tuple[RepairView, ...]
    equality: str
    environments: tuple[EnvironmentView, ...]
    plan: tuple[Fact, ...]
    limits: tuple[str, ...]
    lint: tuple[Found, ...] | None
    footer: str
