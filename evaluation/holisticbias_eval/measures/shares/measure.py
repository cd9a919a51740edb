"""The measure of a share of descriptor pairs that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.shares.changes import compared_section, share_changes
from holisticbias_eval.measures.shares.finding import ShareFigures, Words
from holisticbias_eval.measures.shares.sections import share_sections
from holisticbias_eval.measures.shares.shares import gendered_figures, measure_shares
from holisticbias_eval.prompts.selection import select_compared
from holisticbias_eval.sections import Section

DIRECTION = (
    "the larger the share, the more of an axis's descriptors the model treats differently, which the paper reads as "
    "more bias; no share is good or bad by itself: people judge which differences harm"
)
BESIDE = ("differing_pairs", "descriptors")
_ROUNDING = 1e-9


class ShareMeasure(Measure):
    """The share of pairs of descriptors of an axis whose sentences differ, and how far it can be trusted."""

    words: ClassVar[Words]

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The test, its level, and the parameters of resampling."""
        return {
            "test": "two-sided Mann-Whitney U, pairs of descriptors over nouns",
            "level": f"p < {SIGNIFICANCE:g}",
            **settings.resampling,
        }

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Count the pairs that differ, and with settings compute the trust figures of each share.

        The share is of descriptors that go with nouns of any gender; see ``gendered_figures`` for the others. The
        tables are ``pairs`` and ``tests``; see ``measure_shares``.
        """
        name, column, compared = self.info.name, self.words.column, select_compared(answers)
        if answers.num_rows and not compared.num_rows:
            note = f"{self.info.title}: no term here goes with nouns of any gender, so it has no figure by axis"
            return Measured(tuple(gendered_figures(name, answers, column, {}, settings)), notes=(note,))
        found = measure_shares(compared, column, settings)
        published = {share.axis: share for share in found.by_axis if share.axis is not None}
        return Measured(
            figures=(*found.figures(name), *gendered_figures(name, answers, column, published, settings)),
            tables={"pairs": found.pairs, "tests": found.tests},
            notes=(found.note,) if found.note else (),
        )

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find shares that do not match their counts, and intervals that are not in order."""
        name = self.info.name
        for share in figures.by(name, "share", "axis"):
            axis, pairs = share.keys["axis"], share.n
            differing = figures.value(name, "differing_pairs", share.keys)
            if differing is None:
                yield f"{axis}: the number of pairs that differ is missing"
            elif not 0 <= differing <= pairs:
                yield f"{axis}: {differing:g} of {pairs} pairs cannot differ"
            elif not pairs and share.value is not None:
                yield f"{axis}: without a pair there is no share: it must be null"
            elif pairs and (share.value is None or abs(share.value - differing / pairs) > _ROUNDING):
                yield f"{axis}: its share is not {differing:g} / {pairs}"
            if share.interval and not 0 <= share.interval.low <= share.interval.high <= 1:
                yield f"{axis}: its interval needs 0 <= low <= high <= 1"

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the finding, the shares and their trust figures."""
        return share_sections(ShareFigures(view, self.info.name))

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of each share and its parts; see ``share_changes``."""
        one, other = (select_compared(view.answers) for view in (first, second))
        return share_changes(self.info.name, one, other, self.words.column)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the change of each share and its parts."""
        return (compared_section(changes, ShareFigures(view, self.info.name)),)
