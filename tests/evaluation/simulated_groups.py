"""Invented texts about groups whose true shares and means are known, and a measure that reads nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.groups.readings import TextMethod
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.sections.blocks import Section

ZEAL = "zeal"
METHOD = TextMethod("score", "Score", "score", ("keen", "neither", "dull"))


class Zeal(GroupMeasure):
    """Zeal of texts, carried by words of five letters."""

    info: ClassVar[Info] = Info(
        name=ZEAL, title="Zeal", summary="how keen texts are", direction="the larger, the keener", limits="invented",
        source="this test", headline="disparity", by=("domain", "class"),
    )  # fmt: skip
    methods: ClassVar[tuple[TextMethod, ...]] = (METHOD,)

    def carriers(self, texts: pa.Table, settings: MeasureSettings, method: TextMethod) -> Iterator[Mapping[str, float]]:
        for text in texts["text"].to_pylist():
            yield {word: 1.0 if word < "m" else -0.5 for word in (text or "").split() if len(word) == 5}


def figures_of(table: pa.Table, measure: GroupMeasure | None = None) -> Figures:
    """The figures of a table of texts."""
    return Figures((measure or Zeal()).figures(table, MeasureSettings()).figures)


def view_of(table: pa.Table) -> View:
    """The figures with their table."""
    return View(figures_of(table), table)


def sections_of(table: pa.Table) -> dict[str, Section]:
    """The sections of a table of texts, by name."""
    return {section.name: section for section in Zeal().sections(view_of(table))}


def texts_table(rows: list[dict[str, object]]) -> pa.Table:
    """A measured table of rows with ``domain, group, item, source, text, value, class, why``; others are null."""
    columns = {
        "domain": pa.string(), "group": pa.string(), "item": pa.string(), "source": pa.string(),
        "text": pa.large_string(), "value": pa.float64(), "class": pa.string(), "why": pa.string(),
    }  # fmt: skip
    names = {"value": f"{ZEAL}.score", "class": f"{ZEAL}.score.class", "why": f"{ZEAL}.score.why"}
    return pa.table({names.get(n, n): pa.array([row.get(n) for row in rows], t) for n, t in columns.items()})


@dataclass(frozen=True)
class World:
    """Groups of one domain: ``items`` prompts in each with ``per_item`` texts.

    ``share`` is the chance that a text is keen, and ``lift`` what the first group has more; the chances of items vary
    as a beta distribution with the intra-class correlation ``within``. The mean of the first group is higher by
    ``lift``, too. ``human`` texts of each item share its chance and have no lift. With ``single`` the items of all
    groups but the first have one text. If ``rare`` is not 0, values are not normal: this share is far above all others.
    """

    groups: int = 6
    items: int = 40
    per_item: int = 1
    share: float = 0.3
    lift: float = 0.0
    within: float = 0.0
    human: int = 0
    single: bool = False
    rare: float = 0.0

    def true_shares(self) -> np.ndarray:
        """The share of each group."""
        shares: np.ndarray = self.share + self.lift * (np.arange(self.groups) == 0)
        return shares

    def draw(self, rng: np.random.Generator) -> pa.Table:
        """Texts of the model, and of people if the world has any."""
        return pa.concat_tables(self._texts(rng, *self._items(rng)))

    def _items(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The chance and the level of each item."""
        shape = (self.groups, self.items)
        chance = np.full(shape, self.share)
        if self.within:
            size = 1 / self.within - 1
            chance = rng.beta(self.share * size, (1 - self.share) * size, shape)
        return chance, rng.normal(0, np.sqrt(self.within), shape)

    def _texts(self, rng: np.random.Generator, chance: np.ndarray, level: np.ndarray) -> list[pa.Table]:
        found = []
        for source, count in (("model", self.per_item), ("human", self.human)):
            if count:
                lift = (np.arange(self.groups) == 0)[:, None, None] * (self.lift if source == "model" else 0.0)
                shape = (self.groups, self.items, count)
                lifted = np.minimum(chance[:, :, None] + lift, 1.0) if not self.within else chance[:, :, None]
                keen = rng.random(shape) < lifted
                apart = rng.normal(0, np.sqrt(1 - self.within), shape)
                if self.rare:
                    apart = 0.01 * apart + (rng.random(shape) < self.rare) - self.rare
                group, _, text = (place.ravel() for place in np.indices(shape))
                kept = (group == 0) | (text == 0) | (not self.single)
                found.append(_table(source, keen, level[:, :, None] + apart + lift).filter(pa.array(kept)))
        return found


def _table(source: str, keen: np.ndarray, value: np.ndarray) -> pa.Table:
    group, item, _ = (place.ravel() for place in np.indices(keen.shape))
    return pa.table(
        {
            "group": pa.array([f"g{g}" for g in group]),
            "item": pa.array([f"i{g}.{i}" for g, i in zip(group, item, strict=True)]),
            "source": pa.array([source] * keen.size),
            f"{ZEAL}.score": pa.array(value.ravel()),
            f"{ZEAL}.score.class": pa.array(np.where(keen.ravel(), "keen", "dull").tolist()),
            f"{ZEAL}.score.why": pa.nulls(keen.size, pa.string()),
        }
    )


def domains(lift: float, human: int = 0, **other: float) -> pa.Table:
    """A domain in which the first group has a higher share of keen texts by ``lift``, and one without a difference.

    ``other`` names further domains, each with its lift.
    """
    rng = np.random.default_rng(0)
    parts = []
    for domain, own in {"big_toe": lift, "little_toe": 0.0, **other}.items():
        table = World(items=100, lift=own, human=human, groups=4).draw(rng)
        parts.append(table.append_column("domain", pa.array([domain] * len(table))))
    return pa.concat_tables(parts)
