"""Response wording: phrases, parroting, length, distinct words, and how responses end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures, corrected
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.options import Phrasing
from holisticbias_eval.measures.responses.changed_wording import DISTINCT_WORDS, compare_wordings, distinct_items
from holisticbias_eval.measures.responses.design import (
    MEANS,
    UNTESTED,
    Design,
    Grouping,
    Maker,
    RowValues,
    Wordings,
    read_design,
    read_wordings,
    row_values,
)
from holisticbias_eval.measures.responses.phrases import FILES, LEAST, LONGEST, PRIOR, PhraseList, found_phrases
from holisticbias_eval.measures.responses.wording_sections import VALUES, wording_changes, wording_sections
from holisticbias_eval.sections import Section
from holisticbias_eval.settings import Use
from holisticbias_eval.statistics.tests import benjamini_hochberg
from holisticbias_eval.statistics.words import expected_distinct

NAME = "response_wording"


class ResponseWording(Measure):
    """Phrases, repeated prompts, length, variety and missing answers of responses, by descriptor."""

    info: ClassVar[Info] = Info(
        name=NAME,
        title="Wording of responses",
        summary=(
            "which phrases responses have, how much of the prompt they repeat, how long and how varied they are, and "
            "how many are empty, cut off, refused or withheld, by descriptor"
        ),
        direction=(
            "for bias none is better: a difference between descriptors is the finding; when models are compared, fewer "
            "repeated prompts, fewer repeated and empty responses and more distinct words are better"
        ),
        limits=(
            "a phrase is counted whatever the response means by it; phrases are found in English text with blanks "
            "between words"
        ),
        source="Smith et al. 2022, Table 14 and C.2.1; Monroe et al. 2008; Li et al. 2016",
        headline="parroting_exact",
        better={
            **dict.fromkeys(("parroting_exact", "parroting_start", "parroting_run"), "lower"),
            **dict.fromkeys(("share_repeated", "share_empty"), "lower"),
            **dict.fromkeys(("distinct_1", "distinct_2"), "higher"),
        },
        quality=True,
        names={name: words for name, (words, _) in VALUES.items()},
        main={name: {} for name in ("parroting_exact", "distinct_2", "share_repeated", "share_empty", "length")},
    )
    needs: ClassVar[Needs] = Needs("responses")
    resamples: ClassVar[bool] = False
    task = "responses"
    uses = (Use(Phrasing),)

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The list of phrases with its content, and the limits of phrases that are found."""
        chosen = self._phrases(settings)
        return {
            "phrases": chosen.id,
            "phrases_listed": "; ".join(chosen.all),
            "phrases_found": f"1 to {LONGEST} words, in {LEAST} responses or more; prior {PRIOR:g} responses; exact "
            "test, Benjamini-Hochberg over descriptors and phrases",
            "descriptors": "tested within templates, Benjamini-Hochberg over descriptors",
            "distinct": f"expected in {DISTINCT_WORDS} words",
        }

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures; nothing is resampled, so settings only choose the phrases."""
        if not answers.num_rows:
            raise SelectionError("there is no response to measure")
        design, wordings = read_design(answers), read_wordings(answers)
        maker = Maker(NAME, design)
        phrases = self._phrases(settings)
        figures: list[Figure] = []
        tested: dict[str, list[Figure]] = {}
        for row_value in row_values(answers, wordings, phrases.all):
            figures += _of_groups(maker, row_value, (design.all, design.axes))
            if (row_value.values > 0).any():
                is_tested = row_value.name != UNTESTED
                own = list(_of_groups(maker, row_value, (design.descriptors,), tested=is_tested))
                tested.setdefault(row_value.name, []).extend(own)
        for name, own in tested.items():
            figures += own if name == UNTESTED else [*own, *corrected(own, benjamini_hochberg)]
        figures += _distinct(maker, wordings, design)
        figures += found_phrases(maker, wordings, design, _names(answers, design.descriptors))
        return Measured(tuple(figures), notes=tuple(_notes(answers)))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the finding, phrases, parroting, length and variety, and missing answers."""
        return wording_sections(view)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute how shares of phrases, parroting, length and endings change, paired by response."""
        listed = (f.keys["phrase"] for f in second.figures.by(NAME, "phrase_share", "phrase"))
        phrases = [p for p in listed if first.figures.get(NAME, "phrase_share", {"phrase": p})]
        return compare_wordings(NAME, first.answers, second.answers, phrases)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show phrases and parroting before and after."""
        return wording_changes(changes, view)

    def _phrases(self, settings: MeasureSettings | None) -> PhraseList:
        return FILES.read((settings or MeasureSettings()).phrases)


def _of_groups(
    maker: Maker, found: RowValues, groupings: Sequence[Grouping], *, tested: bool = False
) -> Iterator[Figure]:
    """A value in each group; tested groups are compared with all rows of the same templates."""
    keys = {"phrase": found.phrase} if found.phrase else {}
    for grouping in groupings:
        if unit := MEANS.get(found.name):
            yield from maker.means(found.name, found.values, unit, grouping, tested=tested)
        else:
            yield from maker.shares(found.name, found.values, grouping, tested=tested, **keys)


def _distinct(maker: Maker, wordings: Wordings, design: Design) -> Iterator[Figure]:
    """Distinct words, and pairs of neighbouring words, per word at equal numbers of words."""
    for name, (row, item) in distinct_items(wordings).items():
        for grouping in design.groupings:
            found = expected_distinct(grouping.group[row], item, len(grouping), DISTINCT_WORDS)
            total = np.bincount(grouping.group[row], minlength=len(grouping))
            for keys, value, n in zip(grouping.keys, found.tolist(), total.tolist(), strict=True):
                yield maker.figure(name, keys, value / DISTINCT_WORDS, "share", n)


def _names(answers: pa.Table, grouping: Grouping) -> Sequence[str]:
    """The text of each descriptor."""
    _, first = np.unique(grouping.group, return_index=True)
    names: list[str] = answers["descriptor"].take(pa.array(first)).cast(pa.string()).to_pylist()
    return names


def _notes(answers: pa.Table) -> Iterator[str]:
    lacks = [name for name in ("prompt", "finish") if name not in answers.column_names]
    without = {"prompt": "parroting is not measured", "finish": "refused and truncated responses are not counted"}
    for name in lacks:
        yield f"Wording of responses: there is no column {name}, so {without[name]}"
