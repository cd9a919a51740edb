"""Report sections on texts about groups, a domain at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from holisticbias_eval.blocks import Paragraph
from holisticbias_eval.measures.groups.charts import group_chart, opposite_chart, pair_chart, pair_table, pairs_held
from holisticbias_eval.measures.groups.comparisons import DISPARITY
from holisticbias_eval.measures.groups.figures import FROM_HUMAN, Quantity
from holisticbias_eval.measures.groups.naming import naming_paragraph, naming_table
from holisticbias_eval.measures.groups.readings import HUMAN
from holisticbias_eval.measures.groups.shown import GroupFigures
from holisticbias_eval.measures.groups.tables import (
    GroupExamples,
    domain_table,
    group_table,
    method_map,
    undefined_table,
    word_table,
)
from holisticbias_eval.measures.measure import title
from holisticbias_eval.measures.text import listed, percent
from holisticbias_eval.prompts.collections import REFERENCE
from holisticbias_eval.sections import Block, Section

MOST_DOMAINS, NAMED = 30, 6
CAVEAT = (
    "The figures say how texts about groups differ in words, as one lexicon or classifier reads them. They are never a "
    "verdict on a model: prompts about groups differ, what people write about groups differs, and lexicons and "
    "classifiers are biased themselves."
)
REFERENCES = (
    "Reference texts are continuations that were written for the dataset together with the prompts, in neutral words, "
    "so a model's texts are positive or negative more often. Compare the groups with each other first."
)
READING = (
    "The largest difference of a domain is that between its highest and its lowest group. By chance: the middle 95% "
    "of the same when prompts or pages are dealt out to the groups at random. Intervals and p-values keep the texts of "
    "one prompt or page together. Texts without a value are left out and counted."
)


def group_sections(shown: GroupFigures, scope: str) -> tuple[Section, ...]:
    """An overview, a section for each domain, and as details the groups and the differences of each."""
    if not shown.present:
        return ()
    sections = [_overview(shown, scope), *_other_methods(shown)]
    domains = shown.domains[:MOST_DOMAINS]
    examples = {m.name: GroupExamples(shown.info.name, m, shown.view.answers) for m in shown.present}
    for domain in domains:
        sections += _domain(shown, domain, examples)
    return tuple(sections)


def _overview(shown: GroupFigures, scope: str) -> Section:
    main = shown.charted(shown.present[0])
    blocks: list[Block] = [Paragraph(_finding(shown, quantity), "finding") for quantity in main]
    blocks += [found for quantity in main for found in beside_people(shown, quantity)]
    blocks += _others_found(shown)
    blocks += naming_paragraph(shown)
    references = REFERENCES if shown.has_human and shown.written == REFERENCE else ""
    blocks += [Paragraph(text, "caveat") for text in (scope, CAVEAT, references) if text]
    blocks += [domain_table(shown, quantity) for quantity in main]
    blocks.append(Paragraph(READING, "note"))
    undefined = undefined_table(shown)
    if undefined:
        blocks.append(undefined)
    if len(shown.domains) > MOST_DOMAINS:
        left = f"The first {MOST_DOMAINS} of {len(shown.domains):,} domains have sections; the figures have all."
        blocks.append(Paragraph(left, "note"))
    return Section(_slug(shown.info.name), shown.info.title, tuple(blocks))


def _other_methods(shown: GroupFigures) -> Iterator[Section]:
    """The domain tables of the methods after the first, as details."""
    blocks: list[Block] = []
    for quantity in (c for method in shown.present[1:] for c in shown.charted(method)):
        blocks += [Paragraph(_finding(shown, quantity)), domain_table(shown, quantity)]
    if blocks:
        yield Section(_slug(f"{shown.info.name}-methods"), f"{shown.info.title}: other methods", tuple(blocks), True)


def _others_found(shown: GroupFigures) -> Iterator[Paragraph]:
    """In which domains groups differ by the methods after the first, in one sentence."""
    found: dict[str, dict[str, None]] = {}
    for method in shown.present[1:]:
        own = found.setdefault(method.title, {})
        for quantity in shown.charted(method):
            own.update((shown.domain(domain), None) for domain, _ in _compared(shown, quantity)[0])
    if not found:
        return
    some = [f"{title} ({', '.join(domains)})" for title, domains in found.items() if domains]
    none = [title for title, domains in found.items() if not domains]
    parts = [f"beyond chance by {listed(some)}"] if some else []
    parts += [f"no difference beyond chance by {listed(none)}"] if none else []
    yield Paragraph(f"Other methods: {'; '.join(parts)}.")


def _compared(shown: GroupFigures, quantity: Quantity) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """The domains whose groups differ beyond chance with their disparity, and the other domains that have one."""
    differing: list[tuple[str, float]] = []
    others: list[tuple[str, float]] = []
    for domain in shown.domains:
        apart = shown.at(DISPARITY, domain, quantity)
        if apart is not None and apart.value is not None:
            (differing if apart.differs else others).append((domain, apart.value))
    return differing, others


def _finding(shown: GroupFigures, quantity: Quantity) -> str:
    """Name the domains whose groups differ beyond chance, and count the others."""
    differing, others = _compared(shown, quantity)
    if not differing and not others:
        return f"{quantity.words}: no domain has two groups with a value, so nothing is compared."
    unit = f"{quantity.unit} difference"
    named = _largest(shown, differing, lambda value: _size(value, unit))
    if len(shown.domains) == 1:
        return f"{quantity.words}: {_alone(differing, others, unit)}"
    if not differing:
        return f"{quantity.words}: in none of {len(others)} domains do the groups differ beyond chance."
    rest = f"; in {len(others)} more no difference beyond chance is shown" if others else ""
    return f"{quantity.words}: beyond chance, groups differ in {listed(named)}{rest}."


def _alone(differing: list[tuple[str, float]], others: list[tuple[str, float]], unit: str) -> str:
    if differing:
        return f"the groups differ beyond chance, the highest from the lowest by {_size(differing[0][1], unit)}."
    return f"no difference of the groups beyond chance is shown (highest to lowest {_size(others[0][1], unit)})."


def _size(value: float, unit: str) -> str:
    return f"{100 * value:.1f} points" if unit == "share difference" else f"{value:.2f}"


def _largest(shown: GroupFigures, found: list[tuple[str, float]], say: Callable[[float], str]) -> list[str]:
    """The names of some domains with their values, the largest first, and the number of the others."""
    ordered = sorted(found, key=lambda item: -abs(item[1]))
    named = [f"{shown.domain(d)} ({say(value)})" for d, value in ordered[:NAMED]]
    return [*named, f"{len(found) - NAMED} more"] if len(found) > NAMED else named


def beside_people(shown: GroupFigures, quantity: Quantity) -> Iterator[Paragraph]:
    """In which domains the model's texts differ from people's, in one sentence."""
    differing: list[tuple[str, float]] = []
    others = 0
    for domain in shown.domains:
        keys = shown.place(domain, quantity)
        change = shown.value(FROM_HUMAN, keys)
        if change is None:
            continue
        if shown.differs_from_people(keys):
            differing.append((domain, change))
        else:
            others += 1
    if not differing and not others:
        return
    texts, unit = f"the model's texts differ from the {shown.written}s", f"{quantity.unit} difference"
    if len(shown.domains) == 1:
        said = (
            f"{texts} by {_signed(differing[0][1], unit)}" if differing else f"no difference from the {shown.written}s"
        )
    elif not differing:
        said = f"in none of {others} domains do {texts} beyond chance"
    else:
        named = _largest(shown, differing, lambda value: _signed(value, unit))
        said = f"{texts} in {listed(named)}" + (f"; in {others} more no difference is shown" if others else "")
    yield Paragraph(f"{quantity.words}: {said}.")


def _domain(shown: GroupFigures, domain: str, examples: Mapping[str, GroupExamples]) -> Iterator[Section]:
    """The charts of a domain, and its tables as details."""
    name, heading = (
        _slug(f"{shown.info.name}-{domain or 'groups'}"),
        f"{title(shown.info.name)}: {shown.domain(domain)}",
    )
    first = shown.present[0]
    blocks: list[Block] = []
    tables: list[Block] = []
    for quantity in shown.charted(first):
        blocks += [*_human(shown, domain, quantity), *group_chart(shown, domain, quantity)]
        blocks += opposite_chart(shown, domain, quantity)
        held = pairs_held(shown, domain, quantity)
        blocks += [held] if held else []
        differs = any(map(shown.differs, shown.differences(domain, quantity)))
        (blocks if differs else tables).extend(pair_chart(shown, domain, quantity))
    found = (method_map(shown, domain), word_table(shown, domain, first))
    blocks += [block for block in found if block is not None]
    if blocks:
        yield Section(name, heading, tuple(blocks), in_terminal=len(shown.domains) == 1 or _differs(shown, domain))
    for method in shown.present:
        tables.append(group_table(shown, domain, method, examples[method.name]))
        tests = (pair_table(shown, domain, quantity) for quantity in shown.charted(method))
        tables += [table for table in tests if table is not None]
    naming = naming_table(shown, domain)
    tables += [naming] if naming else []
    yield Section(f"{name}-tables", f"{heading}, details", tuple(tables), detail=True)


def _differs(shown: GroupFigures, domain: str) -> bool:
    """Whether groups of a domain differ beyond chance by the first method, all together or two of them."""
    main = shown.charted(shown.present[0])
    apart = any(domain == found for quantity in main for found, _ in _compared(shown, quantity)[0])
    return apart or any(shown.differs(f) for quantity in main for f in shown.differences(domain, quantity))


def _human(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Paragraph]:
    """The model's value in a domain beside that of people's texts."""
    keys = shown.place(domain, quantity)
    model, human = shown.value(quantity.name, keys), shown.value(f"{HUMAN}_{quantity.name}", keys)
    change = shown.at(FROM_HUMAN, domain, quantity)
    if model is None or human is None or change is None or change.value is None:
        return
    unit, between = change.unit, change.interval
    interval = f" (95% interval {_bare(between.low, unit)} to {_bare(between.high, unit)})" if between else ""
    own, written = _value(model, quantity.unit), _value(human, quantity.unit)
    yield Paragraph(
        f"{quantity.words}: {own} in the model's texts and {written} in the {shown.written}s, a difference of "
        f"{_signed(change.value, unit)}{interval}."
    )


def _value(value: float, unit: str) -> str:
    return percent(value) if unit == "share" else f"{value:.2f}"


def _signed(value: float, unit: str) -> str:
    return f"{_bare(value, unit)} points" if unit == "share difference" else _bare(value, unit)


def _bare(value: float, unit: str) -> str:
    """A difference without the name of its unit."""
    return f"{100 * value:+.1f}" if unit == "share difference" else f"{value:+.2f}"


def _slug(name: str) -> str:
    return name.replace("_", "-").lower()
