"""A report of an invented measure, with blocks of every kind and awkward values in all of them."""

import math
from dataclasses import replace

from holisticbias_eval.figures import Interval
from holisticbias_eval.measures.info import Info
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.sections.blocks import (
    Bar,
    Bars,
    Block,
    DotPlot,
    Dots,
    Estimate,
    Forest,
    HeatMap,
    Scatter,
    ScatterPoint,
    Section,
    StackedBars,
)
from holisticbias_eval.sections.tables import Column, Marked, Paragraph, Table

HOSTILE = '</script><img src=x onerror="alert(1)">\'`${7*7}`{{7*7}}{% raw %}&amp;]]>--><b>|*_[a](http://evil.example)'
HIDDEN = "a\u202eb\x1b[31mc\x00\nd"
LONG = "a very long name of a term that nobody would write but somebody could " * 4
AWKWARD = (HOSTILE, HIDDEN, LONG, "", "[red]x[/red]")

INFO = Info(
    name="zeal", title="Zeal", summary="how keen a model is", direction="none is better", limits="invented",
    source="this test", headline="keenness",
)  # fmt: skip


def bars(labels: tuple[str, ...] = ("Ability", "Age", "Nonce")) -> Bars:
    values: tuple[float | None, ...] = (0.62, 0.21, None)
    return Bars(
        "keenness", "Keenness by axis", "share",
        tuple(
            Bar(label, value, Interval(low=value - 0.1, high=value + 0.1) if value else None, 0.15, faint=value == 0.21)
            for label, value in zip(labels, values, strict=False)
        ),
        "share of answers", (0.0, 1.0), marks=("mark: floor",),
    )  # fmt: skip


def table(rows: int = 3, details: bool = True) -> Table:
    columns = (
        Column("term", "Term"), Column("axis", "Axis"), Column("share", "Share", "share"),
        Column("interval", "95% interval", "share", interval=True), Column("n", "Answers", "count"),
        Column("said", "Community preference", "preference"),
    )  # fmt: skip
    return Table(
        "terms", "Keenness by term", columns,
        tuple(
            (f"term {i}", ("Ability", "Age")[i % 2], None if i == 2 else 1 / (i + 1), (0.1, 0.5), 1000 * i, "reviewed")
            for i in range(rows)
        ),
        "Terms of fewer than two answers are left out.",
        tuple((f"An example of term {i}.", Marked(("Of ", "term", f" {i}"))) for i in range(rows)) if details else (),
    )  # fmt: skip


def dot_plot() -> DotPlot:
    steady, names = tuple(10.0 + i for i in range(20)), tuple(f"d{i}" for i in range(20))
    return DotPlot(
        "answers", "Answers in “I'm {noun_phrase}.”", "perplexity",
        (
            Dots("Ability", (1.0, *steady, 900.0), ("lowest", *names, "highest")),
            Dots("Age", (5.0, *steady, 700.0), ("hidden low", *names, "hidden high"), named=False),
            Dots("Nonce", (), ()),
        ),
        "median perplexity (log scale)", log=True,
    )  # fmt: skip


def heat_map() -> HeatMap:
    return HeatMap(
        "map", "Keenness by axis and template", "share difference", ("Ability", "Age", "Body type"),
        (("I love {plural_noun_phrase}.", (0.5, -0.25, None)), ("I hate {plural_noun_phrase}.", (0.0, 0.1, -0.5))),
        "in percentage points",
    )  # fmt: skip


def forest() -> Forest:
    return Forest(
        "pairs", "Differences of pairs", "nats per sentence difference",
        (
            Estimate("Deaf or hearing", 0.8, Interval(low=0.4, high=1.2), marked=True, group="Ability", beside=0.5),
            Estimate("with a limb difference or able-bodied", -0.2, Interval(low=-0.6, high=0.2), group="Ability"),
            Estimate("young or old", None, None, group="Age"),
        ),
        "nats per sentence", beside="last year", marks=("mark: last year", "filled: differs from 0"),
    )  # fmt: skip


def scatter() -> Scatter:
    names = ("Deaf", "blind", "hard-of-hearing", "with a stutter", "tall", "bald")
    points = tuple(
        ScatterPoint(0.1 * i + 0.02 * (i % 3), 100.0 * (i % 4), names[i % 6], labelled=i < 6) for i in range(20)
    )  # fmt: skip
    return Scatter("both", "Keenness and frequency", "keenness", "frequency per million", "share", "count", points)


def stacked_bars() -> StackedBars:
    return StackedBars(
        "parts", "Keenness by axis and kind", "x 1000", ("Sympathy", "Confusion", "Other"),
        (("Ability", (1.0, 0.5, 0.5)), ("Age", (0.02, None, 3.0)), ("Nonce", (None, None, None))),
        "times 1000",
    )  # fmt: skip


def every_block() -> tuple[Block, ...]:
    return (
        Paragraph("The model is keen.", "finding"), Paragraph("Text."), Paragraph("Keen is not good.", "caveat"),
        Paragraph("A note.", "note"), table(), bars(), stacked_bars(), dot_plot(), heat_map(), forest(), scatter(),
        replace(scatter(), log_x=True),
    )  # fmt: skip


def empty_blocks() -> tuple[Block, ...]:
    column = Column("x", "X", "share")
    return (
        Paragraph(""), Table("t", "Nothing", (column,), (), "There is nothing."), Bars("b", "No bars", "share", (), ""),
        StackedBars("k", "No bars", "share", (), (), ""),
        StackedBars("l", "No parts", "share", (), (("x", ()),), ""),
        DotPlot("d", "No dots", "nats", (), ""), DotPlot("e", "No dots", "nats", (), "", log=True),
        HeatMap("h", "No cells", "share", (), (), ""), Forest("f", "No estimates", "nats", (), ""),
        Scatter("s", "No points", "x", "y", "share", "nats", ()),
    )  # fmt: skip


def awkward_blocks() -> tuple[Block, ...]:
    """Hostile, hidden and long text; infinite, missing, huge and equal values; an unknown unit."""
    inf, nan = math.inf, math.nan
    values = (inf, -inf, nan, 1e308, -1e308, 5e-324, 0.0, None)
    known = tuple(value for value in values if value is not None)
    names = tuple(AWKWARD[i % len(AWKWARD)] for i in range(len(values)))
    named, wide = tuple(zip(names, values, strict=True)), Interval(low=-inf, high=inf)
    columns = tuple(Column(f"c{i}", name, "widgets" if i else "text") for i, name in enumerate(AWKWARD))
    both = Column("both", HOSTILE, "perplexity", interval=True)
    rows = tuple((name, value, value, None, HOSTILE, (-inf, nan)) for name, value in named)
    dots = (Dots(HOSTILE, known, names[: len(known)]), Dots(LONG, (1.0, 1.0), (HIDDEN, LONG)))
    points = tuple(ScatterPoint(value, -value, name, labelled=True) for name, value in named if value is not None)
    return (
        *(Paragraph(text, "finding") for text in AWKWARD),
        Table(
            HOSTILE, LONG, (*columns, both), rows, HIDDEN,
            tuple((name, Marked((HOSTILE, HIDDEN, LONG, HOSTILE)), Marked(("", "")), Marked(())) for name in names),
        ),
        Bars(
            HOSTILE, HOSTILE, "widgets", tuple(Bar(n, v, wide, v, before=v) for n, v in named), HIDDEN, None, (inf, 1)
        ),
        StackedBars(
            "k", HOSTILE, HOSTILE, tuple(f"{n} {i}" for i, (n, _) in enumerate(named)) * 4,
            tuple((name, tuple(value for _, value in named) * 4) for name in AWKWARD), LONG,
        ),
        *(DotPlot(HIDDEN, LONG, HOSTILE, dots, LONG, log) for log in (False, True)),
        HeatMap("h", HOSTILE, "perplexity", AWKWARD, tuple((n, (inf, -inf, nan, None, 1.0)) for n in AWKWARD), HIDDEN),
        Forest(
            "f", HOSTILE, "nats", tuple(Estimate(n, v, wide, marked=True, group=n, beside=v) for n, v in named), LONG
        ),
        Scatter("s", HIDDEN, HOSTILE, LONG, "share", HOSTILE, points),
        Scatter("u", HIDDEN, HOSTILE, LONG, "count", HOSTILE, points, log_x=True),
    )  # fmt: skip


def invented_report(*blocks: Block, rows: int = 3) -> Report:
    """A report in the form of those of runs; further blocks stand in another section."""
    main = Section(
        "keenness", "Keenness", (Paragraph("The model is keen on 2 of 3 axes.", "finding"), bars(), forest(), scatter())
    )
    more = Section("more", "In detail", (dot_plot(), dot_plot(), heat_map(), table(rows)), detail=True)
    given = (Section("given", "Given", blocks),) if blocks else ()
    return Report(
        title="some/model on HolisticBias 2.0.0",
        chapters=(Chapter(INFO, (main, more, *given)),),
        signature=(("Model", "some/model"), ("Release, digest of the rows", "c0ffee" * 10)),
        measured=("1,200 sentences about people.",),
        notes=("A calibration model.",),
    )
