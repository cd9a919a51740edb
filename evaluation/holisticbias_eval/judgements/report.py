"""The report of a study: win rates, agreement, annotators, and what was shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from holisticbias_eval.blocks import Cell, Column, Paragraph, Table, ends
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.judgements.analysis import Analysis, ChoiceAgreement, Rate
from holisticbias_eval.judgements.key import JudgedModel, Key
from holisticbias_eval.measures.info import Info
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.report.units import model_title
from holisticbias_eval.sections import Block, Estimate, Forest, Section

_INFO = Info(
    name="acute_eval",
    title="Choices of annotators",
    summary="how often annotators choose the response of B over that of A, for each question",
    direction="above 50% B is chosen more often",
    limits=(
        "exact tests take every judgement as independent; the tests and intervals clustered by prompt take prompts as "
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
_QUESTION = Column("question", "Question")
_CHOSEN = Column("chosen", "Judgements", "count")
_LEFT = Column("left", "Speaker 1 chosen", "share")
_UNCHOSEN = (Column("ties", "No difference", "count"), Column("refused", "Refused", "count"))
_TESTED = (
    _QUESTION,
    Column("share", "B chosen", "share"),
    _CHOSEN,
    Column("clustered_interval", "95% interval by prompt", "share", interval=True),
    Column("clustered_p_value", "p by prompt", "p_value"),
    Column("clustered_p_holm", "p by prompt, Holm", "p_value"),
    Column("interval", "95% interval, exact", "share", interval=True),
    Column("p_value", "p, exact", "p_value"),
    Column("p_holm", "p, exact, Holm", "p_value"),
)
_COUNTED = (
    _QUESTION,
    Column("prompts", "Prompts", "count"),
    Column("pairs", "Pairs", "count"),
    *_UNCHOSEN,
    _LEFT,
    Column("left_p_value", "p, exact", "p_value"),
)
_ANNOTATORS = (
    Column("name", "Annotator"),
    _CHOSEN,
    _LEFT,
    *_UNCHOSEN,
    Column("passed", "Catch answers passed", "count"),
    Column("asked", "Catch answers", "count"),
    Column("kept", "Kept"),
)


def study_report(analysis: Analysis, key: Key) -> Report:
    """The report of an analysis, with the models as A and B."""
    first, second = key.models
    left_out = sum(not one.kept for one in analysis.annotators)
    sections = [_choices(analysis)]
    if left_out:
        everybody = _rate_tables(analysis.of("all"), "_of_all", ", all annotators")
        sections.append(Section("all-annotators", "With the annotators who failed catch questions", everybody))
    sections += [_agreement(analysis), _annotators(analysis), _shown(key)]
    return Report(
        title=f"People compare {model_title(first.name)} and {model_title(second.name)}",
        chapters=(Chapter(_INFO, tuple(sections)),),
        signature=tuple(_signature(first, second)),
        measured=(_measured(analysis, key, left_out),),
        notes=tuple(_notes(analysis, key)),
        runs=(first.name, second.name),
        scope=SCOPE,
    )


def _measured(analysis: Analysis, key: Key, left_out: int) -> str:
    annotators = len(analysis.annotators)
    catches = sum(pair.catch for pair in key.pairs)
    said = f"{len(key.pairs) - catches:,} pairs of responses, {catches:,} catch questions, {annotators:,} annotators."
    if not left_out:
        return said
    return f"{said} {left_out:,} of them passed fewer than {analysis.settings.least:.0%} of their catch questions."


def _notes(analysis: Analysis, key: Key) -> Iterator[str]:
    for count, what in (
        (analysis.unknown, "are to tasks or questions that this study does not have"),
        (analysis.empty, "of Label Studio have no choice"),
        (analysis.conflicting, "differ from an answer of the same annotator to the same question: both are left out"),
        (analysis.repeated, "repeat an answer of the same annotator, and count once"),
    ):
        if count:
            yield f"{count:,} answers {what}."
    unasked = sum(not one.asked for one in analysis.annotators)
    if unasked and any(pair.catch for pair in key.pairs):
        yield f"{unasked:,} annotators have answered no catch question, and are kept."


def _choices(analysis: Analysis) -> Section:
    rates = analysis.of("kept")
    findings = [Paragraph(sentence(rate), "finding") for rate in rates]
    estimates = tuple(
        Estimate(heading(rate.question), rate.share, rate.clustered_interval, _is_marked(rate)) for rate in rates
    )
    tested, answers = _rate_tables(rates)
    scale = "share of judgements for B  ·  line: 95% interval clustered by prompt  ·  filled: p < 0.05 clustered, Holm"
    chart = Forest("chosen", "B chosen over A", "share", estimates, scale, reference=0.5)
    return Section("choices", _INFO.title, (*findings, tested, chart, answers))


def sentence(rate: Rate) -> str:
    """A rate in words."""
    if rate.share is None:
        return f"{heading(rate.question)}: no annotator has chosen a speaker."
    return f"{heading(rate.question)}: B was chosen in {rate.share:.1%} of {rate.chosen:,} judgements."


def _is_marked(rate: Rate) -> bool:
    return rate.clustered_p_holm is not None and rate.clustered_p_holm < SIGNIFICANCE


def heading(question: str) -> str:
    """The id of a question as a heading."""
    return question.replace("_", " ").capitalize()


def _rows(name: str, caption: str, columns: Sequence[Column], rates: Iterable[Rate], note: str) -> Table:
    """A table with a row for each question: a cell is the field of the rate that its column names."""
    rows = tuple(tuple(_cell(rate, column) for column in columns) for rate in rates)
    return Table(name, caption, tuple(columns), rows, note)


def _cell(rate: Rate, column: Column) -> Cell:
    value = getattr(rate, column.key)
    if column.key == "question":
        return heading(value)
    cell: Cell = ends(value) if column.interval else value
    return cell


def _rate_tables(rates: Sequence[Rate], suffix: str = "", whose: str = "") -> tuple[Table, Table]:
    """The rates with their tests, and the counts of answers."""
    tested = "Judgements in which a speaker was chosen; Holm corrects for the number of questions."
    counted = "Answers without a choice of a speaker are not part of the shares. Sides were drawn by seed."
    return (
        _rows(f"rates{suffix}", f"B chosen over A{whose}", _TESTED, rates, tested),
        _rows(f"answers{suffix}", "Answers", _COUNTED, rates, counted),
    )


def _agreement(analysis: Analysis) -> Section:
    columns = (
        _QUESTION,
        *(Column(name, words, "share" if name == "raw" else "number") for name, words in _AGREEMENT.items()),
        Column("n", "Pairs with two choices", "count"),
    )
    figures: dict[str, dict[str, ChoiceAgreement]] = defaultdict(dict)
    for figure in analysis.agreement:
        if figure.who == "kept":
            figures[figure.question][figure.name] = figure
    rows = tuple(
        (heading(question), *(named[name].value for name in _AGREEMENT), named["krippendorff_alpha"].n)
        for question, named in figures.items()
    )
    said = Paragraph("Kappa and alpha are 0 for agreement by chance and 1 for full agreement.", "note")
    return Section("agreement", "Agreement of annotators", (Table("agreement", "Agreement", columns, rows), said))


def _annotators(analysis: Analysis) -> Section:
    rows = tuple(
        (
            one.name, one.chosen, one.left / one.chosen if one.chosen else None, one.ties, one.refused, one.passed,
            one.asked, "yes" if one.kept else "no",
        )
        for one in analysis.annotators
    )  # fmt: skip
    table = Table("annotators", "Answers by annotator", _ANNOTATORS, rows)
    return Section("annotators", "Annotators", (table,), detail=True)


def _shown(key: Key) -> Section:
    counts = {
        "responses to the same prompt": key.matched,
        **{f"left out: {name}": n for name, n in key.left_out.items()},
    }
    counts["pairs shown"] = sum(not pair.catch for pair in key.pairs)
    columns = (Column("what", "Pairs of responses"), Column("count", "Count", "count"))
    asked = tuple((heading(question.id), question.text) for question in key.questions)
    blocks: list[Block] = [
        Table("shown", "Pairs shown and left out", columns, tuple(counts.items())),
        Table("questions", "Questions", (Column("name", "Question"), Column("text", "Words")), asked, key.source),
    ]
    if not all(value for pair in key.judged.values() for value in pair):
        blocks.append(Paragraph(unjudged(key), "caveat"))
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


def _signature(first: JudgedModel, second: JudgedModel) -> Iterator[tuple[str, str, str]]:
    yield "Model", first.name, second.name
    for words, name in (("Revision", "revision"), ("Weights, SHA-256", "weights_sha256"), ("Prompts", "prompts")):
        values = [getattr(model, name) or "not recorded" for model in (first, second)]
        yield words, values[0], values[1]
