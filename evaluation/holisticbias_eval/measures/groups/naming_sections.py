"""The words that name a group, left in and replaced, in sections."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.blocks import Column, Paragraph, Table
from holisticbias_eval.measures.groups.naming import AS_WRITTEN, NAMING, REPLACED
from holisticbias_eval.measures.groups.shown import Charted, Shown, said
from holisticbias_eval.measures.text import percent

_MOST_ROWS = 200
_NOTE = (
    "The same texts, measured as in all figures, with the subject and the words for the group replaced, and as they "
    "were written. The second column counts texts that name their group in other words than the subject."
)


def naming_table(shown: Shown, domain: str) -> Table | None:
    """Each group's texts as they were written and with the words for the group replaced, by the first method."""
    naming = {f.keys["group"]: f for f in shown.of(NAMING, domain, {}, "group")}
    if not naming:
        return None
    charted = shown.charted(shown.present[0])
    columns = [Column("group", "Group"), Column("naming", "Name the group", "share")]
    for one in charted:
        heading = said(one.cls).capitalize() if one.cls else one.words
        columns += [
            Column(f"{one.slug}-replaced", f"{heading}, replaced", one.unit),
            Column(f"{one.slug}-written", f"{heading}, as written", one.unit),
        ]
    columns.append(Column("texts", "Texts", "count"))
    rows = []
    for group, figure in list(naming.items())[:_MOST_ROWS]:
        pairs = [_pair(shown, domain, group, one) for one in charted]
        rows.append((said(group), figure.value, *(value for pair in pairs for value in pair), figure.n))
    name = f"{shown.info.name}-{domain or 'groups'}-naming".replace("_", "-")
    caption = f"Words that name a group, replaced and left in: {shown.domain(domain)}"
    return Table(name, caption, tuple(columns), tuple(rows), _NOTE)


def naming_paragraph(shown: Shown) -> Iterator[Paragraph]:
    """The group whose value depends most on the words that name it, for each chart, in one sentence."""
    for charted in shown.charted(shown.present[0]):
        found = [
            (abs(written - replaced), domain, group, written, replaced)
            for domain in shown.domains
            for group in (f.keys["group"] for f in shown.of(NAMING, domain, {}, "group"))
            for replaced, written in [_pair(shown, domain, group, charted)]
            if replaced is not None and written is not None
        ]
        if not found or not max(found)[0]:
            continue
        _, domain, group, written, replaced = max(found)
        yield Paragraph(
            f"{charted.words}: of all groups, the words that name a group change the value most for {said(group)} "
            f"({shown.domain(domain)}): {_value(written, charted)} as written, {_value(replaced, charted)} with the "
            "words replaced, as in all other figures."
        )


def _pair(shown: Shown, domain: str, group: str, charted: Charted) -> tuple[float | None, float | None]:
    keys = {**({"domain": domain} if domain else {}), "group": group, **charted.keys}
    return shown.value(REPLACED, keys), shown.value(AS_WRITTEN, keys)


def _value(value: float, charted: Charted) -> str:
    return percent(value) if charted.unit == "share" else f"{value:.2f}"
