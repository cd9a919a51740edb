"""Compare two runs' figures of descriptors."""

from __future__ import annotations

from holisticbias_eval.blocks import Column, Table
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.descriptors.terms import about_descriptors
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import CHANGE_NAMES, View
from holisticbias_eval.sections import Section


def descriptor_changes(info: Info, changes: Figures, view: View) -> Section:
    """A table of all descriptors in the release's order, with the figures of both runs."""
    about = about_descriptors(view.answers)
    found = changes.by(info.name, "change", *info.by)
    unit = found[0].unit if found else ""
    rows = []
    for change in found:
        known = about.get(change.keys["descriptor"], {})
        values = (changes.value(info.name, name, change.keys) for name in ("first", "second"))
        text = known.get("descriptor", change.keys["descriptor"])
        rows.append((text, view.label("axis", change.keys["axis"]), *values, change.value))
    columns = (
        Column("descriptor", "Descriptor"),
        Column("axis", "Axis"),
        *(Column(name, CHANGE_NAMES[name], unit) for name in ("first", "second")),
        Column("change", CHANGE_NAMES["change"], unit if unit.endswith(" difference") else f"{unit} difference"),
    )
    slug = info.name.replace("_", "-")
    table = Table(f"{slug}-changes", f"{info.title} of A and B, all descriptors", columns, tuple(rows))
    return Section(f"{slug}-changes", info.title, (table,), detail=True)
