"""How a verification was planned and run, as the report shows it."""

from __future__ import annotations

from decimal import Decimal

from rra.report.documents import Doc
from rra.report.page import Fact, RunView

_MIB = 1024 * 1024


def level(done: Doc) -> str:
    """Return the level that was earned, what it covers, and what keeps it from the next."""
    word = done.text("level")
    if not word:
        return ""
    earned = "No level was earned" if word == "none" else f"Level {word}"
    coverage = done.text("coverage")
    parts = [earned, coverage.removeprefix(f"{word} · ")]
    reasons = "; ".join(done.texts("level_reasons"))
    text = " · ".join(part for part in parts if part)
    if not reasons:
        return f"{text}."
    return f"{text}. {'Remarks' if word == 'L3' else 'The next level lacks'}: {reasons}."


def run_facts(done: Doc, checked: Doc) -> tuple[Fact, ...]:
    """Return when, where and how the new runs were made."""
    plan, made = done.doc("plan"), done.docs("runs")
    attempt, attempts = plan.text("attempt"), done.text("attempts")
    started, ended = done.text("started"), done.text("ended")
    audited = checked.text("started")
    facts = (
        Fact("verified", f"{started} to {ended}" if ended else started),
        Fact("attempt", f"{attempt} of {attempts}" if attempt and attempts else ""),
        Fact("nonce", plan.text("nonce"), fixed=True),
        Fact("machine", machine(done.doc("machine"))),
        Fact("isolation", _each(made, "sandbox") or plan.text("sandbox")),
        Fact("recorder", _each(made, "recorder")),
        Fact("core", done.text("core") or checked.text("core"), fixed=True),
        Fact("audited", f"{audited}, {_rerun(checked)}" if audited else ""),
        Fact("notes", " ".join([*done.texts("notes"), *checked.texts("notes")])),
    )
    return tuple(fact for fact in facts if fact.value)


def _rerun(checked: Doc) -> str:
    return "with runs of its own" if checked.text("rerun") == "true" else "nothing was run"


def _each(runs: list[Doc], key: str) -> str:
    """Return the different values of a part of all runs."""
    return ", ".join(dict.fromkeys(run.text(key) for run in runs if run.text(key)))


def machine(facts: Doc) -> str:
    """Return the machine in one line: system, processor, memory."""
    count = facts.text("cpu", "count")
    processor = facts.text("cpu", "model") + (f" × {count}" if count else "")
    memory = facts.number("memory")
    gpus = [gpu.text("name") for gpu in facts.docs("gpu")]
    parts = [
        facts.text("os"),
        facts.text("kernel"),
        processor,
        f"{memory / 1024**3:.1f} GiB" if memory else "",
        *gpus,
    ]
    return " · ".join(part for part in parts if part)


def plan_facts(done: Doc) -> tuple[Fact, ...]:
    """Return what was fixed before the first run."""
    plan = done.doc("plan")
    outcomes, planned = plan.docs("outcomes"), plan.docs("runs")
    if not plan:
        return ()
    rules = [item.text("judgement", "rule") for item in done.docs("outcomes")]
    single = dict.fromkeys(item.text("alpha") for item in outcomes)
    made = [f"{run.text('launcher')}: {_runs_of(run)}" for run in planned if run.text("launcher")]
    references = [f"{item.text('outcome')}: {item.text('references')}" for item in outcomes]
    facts = (
        Fact("rule", next((rule for rule in rules if rule), "rra-success/v1")),
        Fact("written before the runs", plan.text("created")),
        Fact("α for all outcomes together", plan.text("alpha")),
        Fact("α for one outcome", ", ".join(short_alpha(item) for item in single if item)),
        Fact("runs", "; ".join(made)),
        Fact("references", "; ".join(references) if plan.text("references") else "none"),
        Fact("references file", plan.text("references"), fixed=True),
    )
    return tuple(fact for fact in facts if fact.value)


def short_alpha(text: str) -> str:
    """Write a level of significance with at most four digits."""
    return f"{Decimal(text):.4g}"


def _runs_of(run: Doc) -> str:
    seeds = ", ".join(run.texts("seeds")[:8])
    reports = run.text("reports")
    each = run.text("runs_per_report")
    noun = "run" if reports == "1" else "runs"
    text = f"{reports} × {each} runs" if each not in {"", "1"} else f"{reports} {noun}"
    return f"{text} with seeds {seeds}" if any(s != "None" for s in run.texts("seeds")) else text


def runs(done: Doc) -> tuple[RunView, ...]:
    """Return every run that was made."""
    return tuple(_run(run) for run in done.docs("runs"))


def _run(run: Doc) -> RunView:
    good = run.text("ok") == "true"
    seconds, peak = run.number("seconds"), run.number("peak_bytes")
    instance = run.text("instance")
    name = run.text("launcher") + ("" if instance in {"", "default"} else f" / {instance}")
    return RunView(
        name,
        run.text("seed"),
        "well" if good else run.text("message") or run.text("termination") or "not well",
        "good" if good else "bad",
        f"{seconds:.1f} s" if seconds is not None else "",
        f"{peak / _MIB:.0f} MiB" if peak else "",
        run.text("record"),
    )
