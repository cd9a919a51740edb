"""Report sections that compare two runs' shares."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.blocks import Cell, Column, Paragraph, Table, ends
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures
from holisticbias_eval.measures.measure import CHANGE_NAMES, View
from holisticbias_eval.measures.shares.finding import label
from holisticbias_eval.measures.shares.words import Words
from holisticbias_eval.measures.text import percent
from holisticbias_eval.sections import Bar, Bars, Block, Section

SENTENCES = ("gone", "changed", "added")
READING = "A and B are the shares of tests of two descriptors in a template with p < 0.05, in either run. "
BY_SENTENCES = (
    "Gone, changed and added are due to the sentences, in percentage points: sentences of A only are removed, "
    "changed sentences are replaced, sentences of B only are added. Gone, changed, model and added add up to the whole "
    "change. "
)
MODEL = "Model is due to the scores, on the sentences that both runs have. "
TESTED = (
    "The 95% interval and p are of the model's part, for other templates and nouns like these, with the same ones in "
    "both runs. The interval excludes 0 exactly if p < 0.05. The p-values are not corrected for the number of axes."
)
TOO_FEW = "There are no intervals: they need two templates and two nouns that both runs have."


def compared_sections(changes: Figures, view: View, words: Words) -> tuple[Section, ...]:
    """Show the change of each axis's share, and its parts."""
    axes = changes.by(words.measure, "change", "axis")
    sentences = _differ(changes, words.measure, *SENTENCES)
    scores = _differ(changes, words.measure, "change")
    reading = READING + (BY_SENTENCES if sentences else "") + MODEL + (TESTED if scores else "")
    blocks: list[Block] = [
        *_headline(changes, view, words, scores),
        _chart(changes, view, words, axes),
        _table(changes, view, words, SENTENCES if sentences else (), scores),
        Paragraph(reading, "note"),
        Paragraph(words.how, "note"),
    ]
    slug = words.measure.replace("_", "-")
    return (Section(f"{slug}-changes", f"{words.bias}, and what changed it", tuple(blocks)),)


def _differ(changes: Figures, measure: str, *names: str) -> bool:
    """Whether any of these parts of a change is not zero."""
    found = [*(f for n in names for f in changes.by(measure, n, "axis")), *(changes.get(measure, n) for n in names)]
    return any(f is not None and (bool(f.value) or (f.p_value is not None and f.p_value < 1)) for f in found)


def _headline(changes: Figures, view: View, words: Words, scores: bool) -> Iterator[Paragraph]:
    first, second = (_percent(changes.value(words.measure, name)) for name in ("first", "second"))
    yield Paragraph(f"{words.bias} over all axes is {first} in A, {second} in B.", "finding")
    if scores:
        yield Paragraph(_tested(changes.by(words.measure, "change", "axis"), view))


def _percent(share: float | None) -> str:
    return "not defined" if share is None else percent(share)


def _tested(changes: tuple[Figure, ...], view: View) -> str:
    tested = [change for change in changes if change.p_value is not None]
    if not tested:
        return TOO_FEW
    changed = [label(view, change) for change in tested if (change.p_value or 0) < SIGNIFICANCE]
    return (
        f"On the sentences that both have, it differs with p < {SIGNIFICANCE:g} for {len(changed)} of {len(tested)} "
        f"axes{': ' if changed else ''}{', '.join(changed)}. Between equal models about one axis in twenty does."
    )


def _chart(changes: Figures, view: View, words: Words, axes: tuple[Figure, ...]) -> Bars:
    bars = tuple(
        Bar(
            label(view, axis),
            changes.value(words.measure, "second", axis.keys),
            before=changes.value(words.measure, "first", axis.keys),
        )
        for axis in axes
    )
    title = f"{words.bias} of A and B by axis"
    return Bars("changes", title, "share", bars, "pairs with p < 0.05  ·  mark: A, bar: B", limits=(0, 1))


def _table(changes: Figures, view: View, words: Words, sentences: tuple[str, ...], tested: bool) -> Table:
    columns = (
        Column("axis", "Axis"),
        *(Column(name, CHANGE_NAMES[name], "share") for name in ("first", "second")),
        *(Column(name, name.title(), "share difference") for name in sentences),
        Column("model", "Model", "share difference"),
        *((Column("interval", "95% interval", "share difference", interval=True), Column("p_value", "p", "p_value"))
          if tested else ()),
    )  # fmt: skip
    rows = []
    axes = changes.by(words.measure, "change", "axis")
    for change in (*axes, *(changes.by(words.measure, "change") if len(axes) > 1 else ())):
        name = label(view, change) if change.keys else "All axes"
        parts = [changes.value(words.measure, part, change.keys) for part in ("first", "second", *sentences)]
        beside: tuple[Cell, ...] = (ends(change.interval), change.p_value) if tested else ()
        rows.append((name, *parts, change.value, *beside))
    caption = f"{words.bias}, and what changed it, in percentage points"
    return Table("changes", caption, columns, tuple(rows))
