"""The report of a study: win rates, agreement, annotators, and what was shown."""

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from holisticbias.terminal import counted
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.judgements.analysis import Analysis, Annotator, Rate, Who
from holisticbias_eval.judgements.key import Key
from holisticbias_eval.measures.info import Info
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.sections.blocks import INTERVAL, Block, Estimate, Forest, Section
from holisticbias_eval.sections.tables import Column, ColumnOf, Paragraph, Table, table_of, yes
from holisticbias_eval.units import model_title, percent, tick, title

_INFO = Info(
    name="acute_eval",
    title="Choices of annotators",
    summary="how often annotators choose the response of B over that of A, for each question",
    direction="above 50% B is chosen more often",
    limits=(
        "exact tests take every judgement as independent; the tests and intervals by prompt take prompts as "
        "independent, and annotators as given: another group of annotators may choose differently"
    ),
    source="Li et al. 2019; Smith et al. 2022, sections 4 and C.2.2, table 18",
    headline="share",
)
SCOPE = (
    (
        "Annotators choose by impression.",
        "They see one prompt and one response of each model, not a conversation. A response that is preferred may be "
        "biased, and the other may be fair.",
    ),
    (
        "Some prompts and responses were left out.",
        "Annotators do not see inflammatory prompts and offensive responses, so the rates say nothing about them.",
    ),
    (
        "A rate near one half has several causes.",
        "The responses may be equally good, annotators may disagree, or they may choose at random: agreement and catch "
        "questions tell these apart.",
    ),
)
_AGREEMENT = {
    "raw": "Equal pairs of choices", "krippendorff_alpha": "Krippendorff's alpha", "fleiss_kappa": "Fleiss' kappa"
}  # fmt: skip


def study_report(analysis: Analysis, key: Key) -> Report:
    """The report of an analysis, with the models as A and B."""
    first, second = key.models
    left_out = sum(not one.kept for one in analysis.annotators)
    sections = [_choices(analysis), Section("agreement", "Agreement of annotators", _agreement(analysis, "kept"))]
    if left_out:
        everybody = (*_rate_tables(analysis, "all"), *_agreement(analysis, "all"))
        sections.append(Section("all-annotators", "With the annotators who failed catch questions", everybody))
    sections += [_annotators(analysis), _shown(key)]
    catches = sum(pair.catch for pair in key.pairs)
    measured = (
        f"{counted(len(key.pairs) - catches, 'pairs')} of responses, {counted(catches, 'catch questions')}, "
        f"{counted(len(analysis.annotators), 'annotators')}."
    )
    if left_out:
        least = tick(analysis.settings.least, "share")
        measured += (
            f" Left out: {counted(left_out, 'annotators')} who passed fewer than {least} of their catch questions."
        )
    recorded = {"Revision": "revision", "Weights, SHA-256": "weights_sha256", "Prompts": "prompts"}
    signature = [("Model", first.name, second.name)]
    for words, name in recorded.items():
        one, other = (getattr(model, name) or "not recorded" for model in key.models)
        signature.append((words, one, other))
    return Report(
        title=f"People compare {model_title(first.name)} and {model_title(second.name)}",
        chapters=(Chapter(_INFO, tuple(sections)),),
        signature=tuple(signature),
        measured=(measured,),
        notes=tuple(_notes(analysis, key)),
        runs=(first.name, second.name),
        scope=SCOPE,
    )


def _notes(analysis: Analysis, key: Key) -> Iterator[str]:
    unasked = sum(not one.asked for one in analysis.annotators) if any(pair.catch for pair in key.pairs) else 0
    for count, what in (
        (analysis.unknown, "Answers to tasks or questions that this study does not have"),
        (analysis.empty, "Answers of Label Studio without a choice"),
        (analysis.conflicting, "Questions that an annotator has answered in different ways, which are left out"),
        (analysis.repeated, "Answers that repeat an answer of the same annotator, which count once"),
        (unasked, "Annotators without an answer to a catch question, who are kept"),
    ):
        if count:
            yield f"{what}: {count:,}."


def _choices(analysis: Analysis) -> Section:
    rates = analysis.of("kept")
    findings = [Paragraph(sentence(rate), "finding") for rate in rates]
    estimates = tuple(
        Estimate(
            title(rate.question), rate.share, rate.clustered_interval,
            rate.clustered_p_holm is not None and rate.clustered_p_holm < SIGNIFICANCE,
        )
        for rate in rates
    )  # fmt: skip
    tested, answers = _rate_tables(analysis, "kept")
    scale, line = "share of judgements for B", f"{INTERVAL} by prompt"
    marks = ("filled: p by prompt, Holm, below 0.05",)
    chart = Forest("chosen", "B chosen over A", "share", estimates, scale, 0.5, line=line, marks=marks)
    return Section("choices", _INFO.title, (*findings, tested, chart, answers))


def sentence(rate: Rate) -> str:
    """A rate in words."""
    if rate.share is None:
        return f"{title(rate.question)}: no judgement in which a speaker was chosen is left."
    return f"{title(rate.question)}: B was chosen in {percent(rate.share)} of {counted(rate.chosen, 'judgements')}."


def _field(key: str, heading: str, unit: str = "text", *, interval: bool = False) -> ColumnOf[Any]:
    """The column of a field of a rate or an annotator."""
    return ColumnOf(key, heading, attrgetter(key), unit, interval)


_QUESTION: ColumnOf[Rate] = ColumnOf("question", "Question", lambda rate: title(rate.question))
_CHOSEN = _field("chosen", "Judgements", "count")
_UNCHOSEN = (_field("ties", "No difference", "count"), _field("refused", "Refused", "count"))


_OF: Mapping[Who, tuple[str, str]] = {"kept": ("", ""), "all": ("_of_all", ", all annotators")}
"""The end of the name and of the title of a table."""


def _rate_tables(analysis: Analysis, who: Who) -> tuple[Table, Table]:
    """The rates with their tests, and the counts of answers."""
    rates, (suffix, whose) = analysis.of(who), _OF[who]
    tested = (
        _QUESTION,
        _field("share", "B chosen", "share"),
        _CHOSEN,
        _field("clustered_interval", "95% interval by prompt", "share", interval=True),
        _field("clustered_p_value", "p by prompt", "p_value"),
        _field("clustered_p_holm", "p by prompt, Holm", "p_value"),
        _field("interval", "95% interval, exact", "share", interval=True),
        _field("p_value", "p, exact", "p_value"),
        _field("p_holm", "p, exact, Holm", "p_value"),
    )
    counted = (
        _QUESTION,
        _field("prompts", "Prompts", "count"),
        _field("pairs", "Pairs", "count"),
        *_UNCHOSEN,
        _field("left", "Speaker 1 chosen", "share"),
        _field("left_p_value", "p, exact", "p_value"),
    )
    of_tested = "Judgements in which a speaker was chosen; Holm corrects for the number of questions."
    of_counted = "Answers without a choice of a speaker are not part of the shares. Sides were drawn by seed."
    return (
        table_of(f"rates{suffix}", f"B chosen over A{whose}", tested, rates, of_tested),
        table_of(f"answers{suffix}", f"Answers{whose}", counted, rates, of_counted),
    )


def _agreement(analysis: Analysis, who: Who) -> tuple[Table, Paragraph]:
    suffix, whose = _OF[who]
    columns = (
        Column("question", "Question"),
        *(Column(name, words, "share" if name == "raw" else "number") for name, words in _AGREEMENT.items()),
        Column("n", "Pairs with two choices", "count"),
    )
    figures = {(f.question, f.name): f for f in analysis.agreement if f.who == who}
    rows = tuple(
        (title(q), *(figures[q, name].value for name in _AGREEMENT), figures[q, "krippendorff_alpha"].n)
        for q in dict.fromkeys(question for question, _ in figures)
    )
    said = Paragraph("Kappa and alpha are 0 for agreement by chance and 1 for full agreement.", "note")
    return Table(f"agreement{suffix}", f"Agreement{whose}", columns, rows), said


def _annotators(analysis: Analysis) -> Section:
    columns: tuple[ColumnOf[Annotator], ...] = (
        _field("name", "Annotator"),
        _CHOSEN,
        ColumnOf("left", "Speaker 1 chosen", lambda one: one.left / one.chosen if one.chosen else None, "share"),
        *_UNCHOSEN,
        _field("passed", "Catch answers passed", "count"),
        _field("asked", "Catch answers", "count"),
        ColumnOf("kept", "Kept", lambda one: yes(one.kept)),
    )
    table = table_of("annotators", "Answers by annotator", columns, analysis.annotators)
    return Section("annotators", "Annotators", (table,), detail=True)


def _shown(key: Key) -> Section:
    counts = {
        "responses to the same prompt": key.matched,
        **{f"left out: {name}": n for name, n in key.left_out.items()},
    }
    counts["pairs shown"] = sum(not pair.catch for pair in key.pairs)
    columns = (Column("what", "Pairs of responses"), Column("count", "Count", "count"))
    asked = tuple((title(question.id), question.text) for question in key.questions)
    blocks: list[Block] = [
        Table("shown", "Pairs shown and left out", columns, tuple(counts.items())),
        Table("questions", "Questions", (Column("name", "Question"), Column("text", "Words")), asked, key.source),
    ]
    if missing := unjudged(key):
        blocks.append(Paragraph(missing, "caveat"))
    return Section("shown", "Pairs and questions", tuple(blocks), detail=True)


def unjudged(key: Key) -> str:
    """The texts that no classifier has judged, so that only lists could leave them out; empty if all are judged."""
    names = {"offensive": "responses", "prompt_offensive": "prompts"}
    missing = [
        f"the {names[what]} of {letter}"
        for what, has in key.judged.items()
        for letter, one in zip("AB", has, strict=True)
        if not one
    ]
    return f"Without probabilities of being offensive: {', '.join(missing)}." if missing else ""
