"""One outcome of the documents as the report shows it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from rra.report.documents import Doc, number
from rra.report.page import Fact, Found, OutcomeView, Step
from rra.report.plot import Lane, Plot
from rra.report.vocabulary import NOT_VERIFIED, answer, verdict

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.model import ReportedValue

_UNITS = {"percent": "%", "fraction": "", "seconds": "s"}
_RULES = {
    "reference-runs": "new runs against reference runs",
    "paper-spread": "against the spread that the paper reports",
    "references": "the paper's value against reference runs",
    "own-runs": "the paper's value against the new runs only",
    "deterministic": "a deterministic value against the paper's",
    "exact": "equal texts",
}
_SUPPORTED = {"HARDCODED": "not copied", "SUPPORTED": "supported"}
_OPENINGS = {"the", "one", "a", "an", "no", "some", "this", "it", "consistent", "both", "at"}
_MOST_CHANGES = 6
_MOST_SCRIPTS = 6


def outcome_views(artifact: Artifact, done: Doc, checked: Doc) -> tuple[OutcomeView, ...]:
    """Return all outcomes of the manifest, in its order."""
    results = {item.text("outcome"): item for item in done.docs("outcomes")}
    audits = {item.text("outcome"): item for item in checked.docs("values")}
    return tuple(
        _outcome(key, outcome, results.get(key, Doc(None)), audits.get(key, Doc(None)), number_)
        for number_, (key, outcome) in enumerate(artifact.manifest.reported_values().items(), 1)
    )


def _outcome(
    key: str, outcome: ReportedValue, result: Doc, audit: Doc, position: int
) -> OutcomeView:
    judged = result.doc("judgement")
    found = _distinct([*_findings(result), *_findings(judged), *_findings(audit)])
    decisive = [item for item in found if item.tone == "bad"]
    others = [item for item in found if item not in decisive]
    words = verdict(result.text("verdict"), result.text("detail")) if result else NOT_VERIFIED
    return OutcomeView(
        key=key,
        anchor=f"outcome-{position}",
        location=outcome.location or "",
        claimed=_claimed(outcome),
        obtained=_obtained(outcome, result, audit),
        agreement=answer(result.text("agreement")),
        repeatability=answer(result.text("repeatability")),
        verdict=words,
        reason=_sentence(result.text("reason")),
        headline=tuple(decisive),
        findings=tuple(others),
        plot=_plot(key, outcome, result, judged),
        facts=_facts(outcome, result, judged, audit),
        deviation=_deviation(outcome),
        trace=_trace(outcome, result.doc("trace") or audit.doc("trace")),
    )


# ------------------------------------------------------------------------- claimed, obtained


def _claimed(outcome: ReportedValue) -> str:
    reported = outcome.reported
    text = ", ".join(reported) if isinstance(reported, list) else with_unit(reported, outcome.unit)
    spread = outcome.reported_uncertainty
    if spread:
        text += f" ± {spread.value} ({spread.kind} of {spread.runs} runs)"
    return text


def with_unit(value: str, unit: str | None) -> str:
    """Return a value with its unit, as one writes it."""
    sign = _UNITS.get(unit or "", unit or "")
    return f"{value}\u202f{sign}" if sign else value


def _obtained(outcome: ReportedValue, result: Doc, audit: Doc) -> str:
    values = result.texts("values")
    if not values:
        text = audit.text("obtained")
        return with_unit(short(text), outcome.unit) if text else ""
    mean = result.text("mean")
    if len(set(values)) == 1 or not mean:
        text = with_unit(short(values[0]), outcome.unit)
        return text if len(values) == 1 else f"{text} ({len(values)} runs)"
    return f"{with_unit(short(mean), outcome.unit)} (mean of {len(values)} runs)"


def short(text: str, digits: int = 8) -> str:
    """Write a number for people, with at most so many digits; other text stays."""
    value = number(text)
    if value is None or len(text) <= digits + 2:
        return text
    rounded = round(value, max(0, digits - 1 - value.adjusted()))
    if not -5 <= value.adjusted() <= 15:
        return f"{value:.{digits - 1}e}"
    plain = f"{rounded:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _deviation(outcome: ReportedValue) -> tuple[str, str] | None:
    stated = outcome.deviation
    if stated is None:
        return None
    return with_unit(stated.observed, outcome.unit), stated.explanation


def _sentence(text: str) -> str:
    text = text.strip()
    if text.split(" ", 1)[0] in _OPENINGS:
        text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


# -------------------------------------------------------------------------------- findings


def _findings(document: Doc) -> list[Found]:
    return [
        Found(
            _word(item.text("code"), item.text("status")),
            _tone(item),  # type: ignore[arg-type]
            _sentence(item.text("message")),
            tuple(item.texts("places")),
            tuple(_trial(trial) for trial in item.docs("trials")),
        )
        for item in document.docs("findings")
    ]


def _distinct(findings: list[Found]) -> list[Found]:
    """Drop what verify and audit both say; the first to say it is kept."""
    first: dict[tuple[str, str], Found] = {}
    for item in findings:
        first.setdefault((item.word.rstrip("?"), item.message), item)
    return list(first.values())


def _word(code: str, status: str) -> str:
    """Return the word of a finding; one that does not refute must not read as if it did."""
    if not code.isupper():
        return code.replace("-", " ")
    if status == "supported":
        return _SUPPORTED.get(code, f"not {code}")
    return f"{code}?" if status == "uncertain" else code


def _tone(finding: Doc) -> str:
    """Return the colour of a finding: red only when the outcome falls with it."""
    status, material = finding.text("status"), finding.text("material") != "false"
    if status == "refuted":
        return "bad" if material else "mixed"
    if status == "uncertain":
        return "mixed" if material else "none"
    return "good" if status == "supported" else "none"


def _trial(trial: Doc) -> str:
    """Return one run of a probe as a line."""
    changed = [
        f"{item.text('place')}: {item.text('original')} → {item.text('decoy')}"
        for item in trial.docs("replaced")[:_MOST_CHANGES]
    ]
    more = (trial.number("replaced_count") or Decimal(0)) - len(changed)
    changed += [f"and {more} more numbers"] if more > 0 else []
    changed += [f"{name} taken away" for name in trial.texts("removed")]
    gave = [f"{name} = {value}" for name, value in trial.doc("obtained").items() if value]
    result = trial.text("failed") or ", ".join(gave) or "no value"
    return f"run {trial.text('number')}: {'; '.join(changed) or 'nothing changed'} gave {result}"


# ---------------------------------------------------------------------------- plot and facts


def _plot(key: str, outcome: ReportedValue, result: Doc, judged: Doc) -> Plot | None:
    reported = number(outcome.reported) if isinstance(outcome.reported, str) else None
    if outcome.type != "number" or reported is None:
        return None
    fresh = result.numbers("values")
    references = result.numbers("references")
    documented = number(outcome.deviation.observed) if outcome.deviation else None
    band = judged.pair("agreement", "interval")
    lanes = [_paper_lane(outcome, reported, judged, band)]
    if documented is not None and outcome.deviation:
        note = outcome.deviation.observed
        lanes.append(Lane("documented", "announced by the artifact", note, (documented,)))
    if references:
        lanes.append(_lane("references", "references", references))
    if fresh:
        lanes.append(_lane("fresh", "this verification", fresh))
    if len(lanes) == 1 and not fresh:
        return None
    said = "; ".join(f"{lane.title}: {lane.note}" for lane in lanes)
    return Plot(
        tuple(lanes),
        band,
        outcome.unit or "",
        outcome.scale == "log",
        f"{key}. {said}.",
    )


def _paper_lane(
    outcome: ReportedValue, reported: Decimal, judged: Doc, band: tuple[Decimal, Decimal] | None
) -> Lane:
    """Return the paper's lane: its value and what is no difference from it."""
    exponent = reported.as_tuple().exponent
    half = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) / 2
    g = judged.number("g") or half
    interval = (reported - g, reported + g)
    same = band is not None and all(
        abs(a - b) < g / 1000 for a, b in zip(interval, band, strict=True)
    )
    return Lane("paper", "paper", str(outcome.reported), (reported,), None if same else interval)


def _lane(kind: str, title: str, values: tuple[Decimal, ...]) -> Lane:
    low, high = min(values), max(values)
    edges = dict.fromkeys(short(str(edge), 6) for edge in (low, high))
    spread = " … ".join(edges)
    count = "" if len(values) == 1 else f" (n = {len(values)})"
    return Lane(kind, title, spread + count, values)


def _facts(outcome: ReportedValue, result: Doc, judged: Doc, audit: Doc) -> tuple[Fact, ...]:
    obtained = _obtained(outcome, result, audit)
    facts = [
        Fact("claimed", _claimed(outcome) if outcome.type != "number" else ""),
        Fact("obtained", obtained if outcome.type != "number" else ""),
        Fact("metric", " on ".join(part for part in (outcome.metric, outcome.split) if part)),
        Fact("scope", outcome.scope if result else ""),
    ]
    for question in ("agreement", "repeatability"):
        test = judged.doc(question)
        if test.text("answer") not in {"", "not_assessed"}:
            facts.append(Fact(question, _assessment(test, outcome.unit)))
    if judged.number("g") is not None:
        g = with_unit(short(judged.text("g"), 4), outcome.unit)
        facts.append(Fact("g", f"{g} or less is no difference"))
    level = audit.text("evidence_level")
    facts += [
        Fact("α of each test", _alpha(judged)),
        Fact("audit", ", evidence level ".join(p for p in (audit.text("verdict"), level) if p)),
    ]
    return tuple(fact for fact in facts if fact.value)


def _alpha(judged: Doc) -> str:
    value = judged.number("alpha")
    return "" if value is None else f"{value:.4g}"


def _assessment(test: Doc, unit: str | None) -> str:
    """Return the numbers behind one answer, in the unit of the outcome."""
    rule = test.text("rule")
    parts = [f"{answer(test.text('answer')).text}: {_RULES[rule]}" if rule in _RULES else rule]
    interval, h, z = test.pair("interval"), test.text("h"), test.text("z")
    if interval:
        low, high = (short(str(edge), 6) for edge in interval)
        parts.append(f"{with_unit(f'{low} … {high}', unit)} passes")
    if h:
        parts.append(f"h\u00a0=\u00a0{with_unit(short(h, 4), unit)}")
    if z:
        parts.append(f"z\u00a0=\u00a0{short(z, 3)}")
    shift = test.pair("detectable")
    if shift and rule != "deterministic":
        edges = " … ".join(dict.fromkeys(short(str(edge), 3) for edge in shift))
        parts.append(f"a shift of {with_unit(edges, unit)} is caught 4 times in 5")
    if test.text("more_runs"):
        more = test.text("more_runs")
        parts.append(f"{more} more {'run' if more == '1' else 'runs'} would decide")
    return "; ".join(part for part in parts if part)


# ------------------------------------------------------------------------------------ trace


def _trace(outcome: ReportedValue, trace: Doc) -> tuple[Step, ...]:
    """Return the way from the number back to the script."""
    if not trace:
        return ()
    line = trace.text("line")
    file = trace.text("file")
    place = trace.text("place")
    steps = [Step("number in the paper", _claimed(outcome), remark=outcome.location or "")]
    if file:
        name = f"{file}:{line}" if line else file
        at = f"{place} holds {trace.text('value')}" if trace.text("value") else place
        steps.append(Step("file that the run wrote", name, trace.text("sha256"), at))
    if trace.text("record"):
        when = trace.text("started")
        steps.append(Step("record of the run", when or "execution record", trace.text("record")))
    entry = trace.doc("entry")
    steps.append(
        Step(
            "launcher",
            entry.text("path") or trace.text("launcher"),
            entry.text("sha256"),
            trace.text("launcher") if entry.text("path") else "",
        )
    )
    scripts = trace.docs("scripts")
    steps += [
        Step("script", item.text("path"), item.text("sha256")) for item in scripts[:_MOST_SCRIPTS]
    ]
    if len(scripts) > _MOST_SCRIPTS:
        steps.append(Step("and", f"{len(scripts) - _MOST_SCRIPTS} more scripts"))
    return tuple(steps)
