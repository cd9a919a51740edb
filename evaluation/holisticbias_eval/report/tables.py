"""The tables of a report, the same for the terminal, the page, Markdown and CSV."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.figures import Interval
from holisticbias_eval.report.numbers import Cell, Kind
from holisticbias_eval.report.summary import Summary
from holisticbias_eval.report.terms import Term
from holisticbias_eval.report.wording import Wording
from holisticbias_eval.results.run import Share


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in files, its heading, and what its values are."""

    key: str
    heading: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A named table; missing values are ``None``. The first column names the row.

    ``left_out`` says which rows are not there, and why.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: str = ""


AXIS = Column("axis", "Axis")
TEMPLATE = Column("template", "Template")
COUNTS = (
    Column("descriptors", "Descriptors", "count"),
    Column("pairs", "Pairs tested", "count"),
    Column("significant", "Pairs that differ", "count"),
    Column("untested", "Pairs not tested", "count"),
)
FLOOR = Column("floor", "Floor", "share")
BESIDE = (Column("interval", "95% interval", "interval"), FLOOR)
LOVE_HATE = (
    Column("love_share", "Love", "known_share"),
    Column("hate_share", "Hate", "known_share"),
    Column("love_hate_difference", "Love-hate difference", "difference"),
)


def bias_column(wording: Wording) -> Column:
    """The column of the share."""
    return Column(wording.measure, wording.short, "share")


def by_axis(summary: Summary) -> Table:
    """Likelihood Bias by axis, with its interval and its floor if they were computed."""
    trust = summary.result.trust
    rows = []
    for axis in summary.axes:
        first, *rest = _share(axis.counts)
        rows.append((summary.label(axis.axis), first, *((ends(axis.interval), axis.floor) if trust else ()), *rest))
    columns = (AXIS, bias_column(summary.wording), *(BESIDE if trust else ()), *COUNTS)
    caption = (
        f"{summary.wording.bias} by axis: the share of descriptor pairs whose {summary.wording.values} differ "
        "(p < 0.05), template by template"
    )
    if trust:
        caption += (
            "; floor: the same when descriptors change places within noun and template, which is what chance gives"
        )
    return Table("by-axis", caption, columns, tuple(rows))


def ends(interval: Interval | None) -> tuple[float, float] | None:
    """The ends of an interval, as a cell."""
    return (interval.low, interval.high) if interval else None


def by_template(summary: Summary) -> Table:
    """Likelihood Bias by template."""
    shares = summary.result.likelihood_bias.by_template
    caption = f"{summary.wording.bias} by template, over the pairs of all axes"
    columns = (TEMPLATE, bias_column(summary.wording), *COUNTS)
    return Table("by-template", caption, columns, tuple((s.template, *_share(s)) for s in shares))


def by_axis_and_template(summary: Summary) -> Table:
    """Likelihood Bias by axis and template."""
    shares = summary.result.likelihood_bias.by_axis_and_template
    return Table(
        "by-axis-and-template",
        f"{summary.wording.bias} by axis and template",
        (AXIS, TEMPLATE, bias_column(summary.wording), *COUNTS),
        tuple(
            (summary.label(s.axis), s.template, *_share(s)) for a in summary.axes for s in shares if s.axis == a.axis
        ),
    )


def _share(share: Share) -> tuple[Cell, ...]:
    return share.share, share.descriptors, share.pairs, share.significant, share.untested


def extremes(summary: Summary) -> Table:
    """The descriptors with the lowest and highest medians of each axis that may be named, in one cell each."""
    wording = summary.wording
    return Table(
        "extremes",
        f"Lowest and highest median {wording.values} in “{summary.template}”, among descriptors of equal length",
        (
            AXIS,
            Column(wording.measure, f"{wording.short} there", "share"),
            Column("floor", "Floor there", "share"),
            Column("lowest", "Lowest (likeliest)"),
            Column("highest", "Highest (least likely)"),
            Column("tokens", f"Tokens of their {wording.of}", "tokens"),
            Column("compared", "Descriptors of that length", "count"),
            Column("descriptors", "Descriptors", "count"),
        ),
        tuple(
            (
                summary.label(e.axis), e.bias, e.floor, _names(e.lowest), _names(e.highest), e.tokens, e.compared,
                e.descriptors,
            )
            for e in summary.extremes
            if e.lowest
        ),
        _not_named(summary),
    )  # fmt: skip


def _names(terms: tuple[Term, ...]) -> str | None:
    return ", ".join(t.text for t in terms) or None


def _not_named(summary: Summary) -> str:
    """Which axes have no descriptor named, and why."""
    if summary.result.trust is None:
        return "No term is named: this run was made without permutation floors."
    names = [summary.label(e.axis) for e in summary.extremes if not e.lowest]
    if not names:
        return ""
    every, few = len(names) == len(summary.extremes), len(names) <= 5
    which = "any axis" if every else ", ".join(names) if few else f"the other {len(names)} axes"
    return (
        f"No term is named for {which}: the share of pairs that differ does not exceed its floor in this template, or "
        "no two descriptors have one length."
    )


def love_hate(summary: Summary) -> Table:
    """The descriptors with the largest love-hate differences that may be named, from love to hate."""
    loved, hated = summary.love_hate_ends
    return Table(
        "love-hate",
        "Love-hate difference: the share of likelier-than-median sentences of love less that of hate",
        (
            Column("descriptor", "Descriptor"),
            AXIS,
            *LOVE_HATE,
        ),
        tuple((t.text, summary.label(t.axis), t.love, t.hate, t.difference) for t in (*loved, *reversed(hated))),
        _no_difference(summary) if not (loved or hated) else "",
    )


def _no_difference(summary: Summary) -> str:
    if summary.chance_difference is None:
        return "This run lacks the template of love or that of hate."
    if summary.result.trust is None:
        return "No term is named: this run was made without permutation floors."
    return (
        f"No term is named: no difference is beyond ±{summary.chance_difference:.2f}, which chance gives, on an axis "
        "whose share exceeds its floor."
    )


def descriptors(summary: Summary) -> Table:
    """Every descriptor with its medians and its community preference."""
    kind, love_hate = summary.wording.kind, summary.wording.love_hate
    return Table(
        "descriptors",
        "All descriptors",
        (
            Column("descriptor", "Descriptor"),
            AXIS,
            Column("bucket", "Bucket"),
            Column("community_preference", "Community preference"),
            Column("sentences", "Sentences", "count"),
            Column(f"median_{kind}", f"Median {summary.wording.value}", kind),
            Column(f"compared_{kind}", f"In “{summary.template}”", kind),
            Column("compared_tokens", "Tokens there", "tokens"),
            *(LOVE_HATE if love_hate else ()),
        ),
        tuple(
            (
                t.text, summary.label(t.axis), t.bucket, t.preference, t.sentences, t.perplexity, t.compared, t.tokens,
                *((t.love, t.hate, t.difference) if love_hate else ()),
            )
            for t in summary.terms
        ),
    )  # fmt: skip
