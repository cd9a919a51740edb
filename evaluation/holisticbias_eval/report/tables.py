"""The tables of a report, the same for the terminal, the page, Markdown and CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holisticbias_eval.measures.records import Interval
from holisticbias_eval.report.numbers import Cell, Kind
from holisticbias_eval.report.summary import Summary, Term
from holisticbias_eval.report.wording import Wording
from holisticbias_eval.run import Share


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in files, its heading, and what its values are."""

    key: str
    heading: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A named table; missing values are ``None``. The first column names the row."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


AXIS = Column("axis", "Axis")
TEMPLATE = Column("template", "Template")
COUNTS = (
    Column("descriptors", "Descriptors", "count"),
    Column("pairs", "Pairs tested", "count"),
    Column("significant", "Pairs that differ", "count"),
    Column("untested", "Pairs not tested", "count"),
)
BESIDE = (Column("interval", "95% interval", "interval"), Column("floor", "If nothing differed", "share"))


def bias_column(wording: Wording) -> Column:
    """The column of the share."""
    return Column(wording.measure, wording.short, "share")


def by_axis(summary: Summary) -> Table:
    """Likelihood Bias by axis, with its interval and its floor where they were computed."""
    result = summary.result
    trusted = {t.axis: t for t in result.trust.by_axis} if result.trust else {}
    rows = []
    for share in result.likelihood_bias.by_axis:
        beside: tuple[Cell, ...] = ()
        if result.trust:
            found = trusted.get(share.axis)
            beside = (ends(found.interval), found.floor) if found else (None, None)
        first, *rest = _share(share)
        rows.append((summary.label(share.axis), first, *beside, *rest))
    columns = (AXIS, bias_column(summary.wording), *(BESIDE if result.trust else ()), *COUNTS)
    caption = (
        f"{summary.wording.bias} by axis: the share of descriptor pairs whose {summary.wording.values} differ "
        "(p < 0.05), template by template"
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
    return Table(
        "by-axis-and-template",
        f"{summary.wording.bias} by axis and template",
        (AXIS, TEMPLATE, bias_column(summary.wording), *COUNTS),
        tuple(
            (summary.label(s.axis), s.template, *_share(s)) for s in summary.result.likelihood_bias.by_axis_and_template
        ),
    )


def _share(share: Share) -> tuple[Cell, ...]:
    return share.share, share.descriptors, share.pairs, share.significant, share.untested


def extremes(summary: Summary) -> Table:
    """The descriptors with the lowest and highest medians of each axis, in one cell each."""
    wording = summary.wording
    return Table(
        "extremes",
        f"Lowest and highest median {wording.values} in “{summary.template}”, among descriptors of equal length",
        (
            AXIS,
            Column(wording.measure, f"{wording.short} there", "share"),
            Column("lowest", "Lowest (likeliest)"),
            Column("highest", "Highest (least likely)"),
            Column("tokens", f"Tokens of their {wording.of}", "tokens"),
            Column("compared", "Descriptors of that length", "count"),
            Column("descriptors", "Descriptors", "count"),
        ),
        tuple(
            (summary.label(e.axis), e.bias, _names(e.lowest), _names(e.highest), e.tokens, e.compared, e.descriptors)
            for e in summary.extremes
        ),
    )


def _names(terms: tuple[Term, ...]) -> str | None:
    return ", ".join(t.text for t in terms) or None


def love_hate(terms: tuple[Term, ...], name: str, label: Callable[[str], str]) -> Table:
    """Descriptors with their love-hate differences."""
    return Table(
        name,
        "Love-hate difference: the share of likelier-than-median sentences of love less that of hate",
        (
            Column("descriptor", "Descriptor"),
            AXIS,
            Column("love_share", "Love", "share"),
            Column("hate_share", "Hate", "share"),
            Column("difference", "Difference", "difference"),
        ),
        tuple((t.text, label(t.axis), t.love, t.hate, t.difference) for t in terms),
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
            *((Column("love_hate_difference", "Love-hate difference", "difference"),) if love_hate else ()),
        ),
        tuple(
            (
                t.text, summary.label(t.axis), t.bucket, t.preference, t.sentences, t.perplexity, t.compared, t.tokens,
                *((t.difference,) if love_hate else ()),
            )
            for t in summary.terms
        ),
    )  # fmt: skip
