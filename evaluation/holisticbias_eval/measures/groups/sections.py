"""Report sections on texts about groups, a domain at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from holisticbias.terminal import counted
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.groups import tables
from holisticbias_eval.measures.groups.charts import pair_chart, pair_table, quantity_blocks
from holisticbias_eval.measures.groups.comparisons import AS_WRITTEN, CLUSTERED, DISPARITY, NAMING, REPLACED
from holisticbias_eval.measures.groups.figures import FROM_HUMAN, MEAN, Quantity, said
from holisticbias_eval.measures.groups.shown import GroupFigures
from holisticbias_eval.prompts.collections import REFERENCE
from holisticbias_eval.prompts.texts import HUMAN
from holisticbias_eval.sections.blocks import Block, Section
from holisticbias_eval.sections.tables import Paragraph
from holisticbias_eval.settings import listed
from holisticbias_eval.units import interval_words, show, some_of, title

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
    "The largest difference of a domain is that between its highest and its lowest group. Floor interval: the middle "
    "95% of the same when prompts or pages are dealt out to the groups at random. Intervals and p-values keep the "
    "texts of one prompt or page together. Texts without a value are left out and counted."
)
FEW = 20
FEW_TEXTS = (
    f"Some groups have fewer than {FEW} texts: if most of their values are alike and a few far from them, intervals of "
    "their means are too narrow, and p-values of differences of their means too small."
)
DEALT_OUT = (
    "Dealing out prompts or pages takes them as alike: if those of some groups have several texts and those of others "
    "one, p-values of the largest difference can be too small."
)


InDomains = list[tuple[str, float]]
"""Domains, each with a value."""


def group_sections(shown: GroupFigures, scope: str) -> tuple[Section, ...]:
    """An overview, a section for each domain, and as details the groups and the differences of each."""
    if not shown.present:
        return ()
    sections = [_overview(shown, scope), *_other_methods(shown)]
    examples = {m.name: tables.GroupExamples(shown.info.name, m, shown.view.answers) for m in shown.present}
    for domain in shown.domains[:MOST_DOMAINS]:
        sections += _domain(shown, domain, examples)
    return tuple(sections)


def _overview(shown: GroupFigures, scope: str) -> Section:
    main = shown.charted(shown.present[0])
    references = REFERENCES if shown.has_human and shown.written == REFERENCE else ""
    blocks: list[Block] = [
        *(Paragraph(_finding(shown, quantity), "finding") for quantity in main),
        *(said for quantity in main for said in _beside_people(shown, quantity)),
        *_others_found(shown),
        *_naming(shown),
        *(Paragraph(text, "caveat") for text in (scope, CAVEAT, references) if text),
        *(tables.domain_table(shown, quantity) for quantity in main),
        Paragraph(READING, "note"),
        *_limits(shown),
        *tables.undefined_table(shown),
    ]
    if len(shown.domains) > MOST_DOMAINS:
        left = f"The first {MOST_DOMAINS} of {len(shown.domains):,} domains have sections; the figures have all."
        blocks.append(Paragraph(left, "note"))
    return Section(_slug(shown.info.name), shown.info.title, tuple(blocks))


def _limits(shown: GroupFigures) -> Iterator[Paragraph]:
    """Notes on few texts of a group, and on several texts of an item; see the simulations in the docs."""
    means = (f for method in shown.present for d in shown.domains for f in shown.of(MEAN, d, method.keys, "group"))
    if any(0 < f.n < FEW for f in means):
        yield Paragraph(FEW_TEXTS, "note")
    main = shown.charted(shown.present[0])
    if any(shown.of(CLUSTERED, d, q.keys, "first", "second") for d in shown.domains for q in main):
        yield Paragraph(DEALT_OUT, "note")


def _other_methods(shown: GroupFigures) -> Iterator[Section]:
    """The domain tables of the methods after the first, as details."""
    blocks: list[Block] = []
    for quantity in (c for method in shown.present[1:] for c in shown.charted(method)):
        blocks += [Paragraph(_finding(shown, quantity)), tables.domain_table(shown, quantity)]
    if blocks:
        yield Section(_slug(f"{shown.info.name}-methods"), f"{shown.info.title}: other methods", tuple(blocks), True)


def _others_found(shown: GroupFigures) -> Iterator[Paragraph]:
    """In which domains groups differ by the methods after the first, in one sentence."""
    some, none = [], []
    for method in shown.present[1:]:
        compared = [_compared(shown, quantity) for quantity in shown.charted(method)]
        domains = dict.fromkeys(shown.domain(domain) for differing, _ in compared for domain, _ in differing)
        if domains:
            some.append(f"{method.title} ({', '.join(domains)})")
        elif any(others for _, others in compared):
            none.append(method.title)
    parts = [f"groups differ beyond chance by {listed(some)}"] if some else []
    parts += [f"no difference beyond chance by {listed(none)}"] if none else []
    if parts:
        yield Paragraph(f"Other methods: {'; '.join(parts)}.")


def _compared(shown: GroupFigures, quantity: Quantity) -> tuple[InDomains, InDomains]:
    """The domains whose groups differ beyond chance with their disparity, and the other domains that have one."""
    return _in_two(shown, DISPARITY, quantity, lambda apart: apart.differs)


def _in_two(
    shown: GroupFigures, name: str, quantity: Quantity, differs: Callable[[Figure], bool]
) -> tuple[InDomains, InDomains]:
    """The domains in which a figure differs with its values, and the other domains that have it."""
    found: tuple[InDomains, InDomains] = ([], [])
    for domain in shown.domains:
        figure = shown.at(name, domain, quantity)
        if figure is not None and figure.value is not None:
            found[not differs(figure)].append((domain, figure.value))
    return found


def _finding(shown: GroupFigures, quantity: Quantity) -> str:
    """Name the domains whose groups differ beyond chance, and count the others."""
    differing, others = _compared(shown, quantity)
    if not differing and not others:
        return f"{quantity.words}: no domain has two groups with a value, so nothing is compared."
    if len(shown.domains) > 1:
        names = (_named(shown, found, quantity) for found in (differing, others))
        what, none = "the groups differ beyond chance", "do the groups differ"
        said = _in_domains(what, none, "no difference beyond chance", *names)
    else:
        ((_, apart),) = differing or others
        size = show(apart, quantity.difference_unit)
        said = f"no difference of the groups beyond chance is shown (highest to lowest {size})"
        if differing:
            said = f"the groups differ beyond chance, the highest from the lowest by {size}"
    return f"{quantity.words}: {said}."


def _in_domains(what: str, none: str, nothing: str, named: Sequence[str], others: Sequence[str]) -> str:
    """In which domains there is a difference, and in how many no difference is shown."""
    if not named and len(others) > 1:
        return f"in none of {len(others)} domains {none} beyond chance"
    if not named:
        return f"in {others[0]} {nothing} is shown"
    rest = f"; in {counted(len(others), 'other domains')} {nothing} is shown" if others else ""
    return f"{what} in {some_of(named, NAMED)}{rest}"


def _named(shown: GroupFigures, found: InDomains, quantity: Quantity) -> list[str]:
    """The names of the domains with their values, the largest first."""
    ordered = sorted(found, key=lambda item: -abs(item[1]))
    return [f"{shown.domain(d)} ({show(value, quantity.difference_unit)})" for d, value in ordered]


def _beside_people(shown: GroupFigures, quantity: Quantity) -> Iterator[Paragraph]:
    """In which domains the model's texts differ from people's, in one sentence."""
    differing, others = _in_two(shown, FROM_HUMAN, quantity, lambda change: shown.differs_from_people(change.keys))
    if not differing and not others:
        return
    texts = f"the model's texts differ from the {shown.written}s"
    said = f"no difference from the {shown.written}s"
    if len(shown.domains) > 1:
        names = (_named(shown, found, quantity) for found in (differing, others))
        said = _in_domains(texts, f"do {texts}", "no difference", *names)
    elif differing:
        said = f"{texts} by {show(differing[0][1], quantity.difference_unit)}"
    yield Paragraph(f"{quantity.words}: {said}.")


def _naming(shown: GroupFigures) -> Iterator[Paragraph]:
    """The group whose value depends most on the words that name it, for each chart, in one sentence."""
    for quantity in shown.charted(shown.present[0]):
        found = []
        for domain in shown.domains:
            for group in (f.keys["group"] for f in shown.of(NAMING, domain, {}, "group")):
                keys = {**shown.place(domain, quantity), "group": group}
                replaced, written = shown.value(REPLACED, keys), shown.value(AS_WRITTEN, keys)
                if replaced is not None and written is not None:
                    found.append((abs(written - replaced), domain, group, written, replaced))
        if found and max(found)[0]:
            _, domain, group, written, replaced = max(found)
            yield Paragraph(
                f"{quantity.words}: of all groups, the words that name a group change the value most for "
                f"{said(group)} ({shown.domain(domain)}): {show(written, quantity.unit)} as written, "
                f"{show(replaced, quantity.unit)} with the words replaced, as in all other figures."
            )


def _domain(shown: GroupFigures, domain: str, examples: Mapping[str, tables.GroupExamples]) -> Iterator[Section]:
    """The charts of a domain, and its tables as details."""
    name = _slug(f"{shown.info.name}-{domain or 'groups'}")
    heading = f"{title(shown.info.name)}: {shown.domain(domain)}"
    first = shown.present[0]
    blocks: list[Block] = []
    details: list[Block] = []
    for quantity in shown.charted(first):
        blocks += [*_human(shown, domain, quantity), *quantity_blocks(shown, domain, quantity)]
        differs = any(map(shown.differs, shown.differences(domain, quantity)))
        (blocks if differs else details).extend(pair_chart(shown, domain, quantity))
    blocks += [*tables.method_map(shown, domain), *tables.word_table(shown, domain, first)]
    if blocks:
        yield Section(name, heading, tuple(blocks), in_terminal=len(shown.domains) == 1 or _differs(shown, domain))
    for method in shown.present:
        details.append(tables.group_table(shown, domain, method, examples[method.name]))
        details += [table for quantity in shown.charted(method) for table in pair_table(shown, domain, quantity)]
    details += tables.naming_table(shown, domain)
    yield Section(f"{name}-tables", f"{heading}, details", tuple(details), detail=True)


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
    interval = interval_words(change.interval, change.unit)
    tested = "" if change.adjusted_p is None else f", p {show(change.adjusted_p, 'p_value')} after Holm's correction"
    yield Paragraph(
        f"{quantity.words}: {show(model, quantity.unit)} in the model's texts and {show(human, quantity.unit)} in "
        f"the {shown.written}s, a difference of {show(change.value, change.unit)}{interval}{tested}."
    )


def _slug(name: str) -> str:
    return name.replace("_", "-").lower()
