"""Response wording: phrases, parroting, length, distinct words, and how responses end."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import Figure, Figures, corrected
from holisticbias_eval.measures.info import WRITERS, Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.options import Phrasing
from holisticbias_eval.measures.responses import wordings as worded
from holisticbias_eval.measures.responses.design import (
    Design,
    common_responses,
    counted_answers,
    group_figures,
    paired_changes,
    read_design,
)
from holisticbias_eval.measures.responses.phrases import FILES, LEAST, LONGEST, PRIOR, PhraseList, found_phrases
from holisticbias_eval.measures.responses.wording_sections import VALUES, wording_changes, wording_sections
from holisticbias_eval.measures.responses.wordings import NAME, figure
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.settings import Use
from holisticbias_eval.statistics.intervals import estimate
from holisticbias_eval.statistics.tests import benjamini_hochberg
from holisticbias_eval.statistics.words import distinct_of_counts, distinct_without_blocks, expected_distinct

DISTINCT_WORDS = 500
"""The number of words at which distinct words are counted."""
BLOCKS = 20


class ResponseWording(Measure):
    """Phrases, repeated prompts, length, variety and missing answers of responses, by descriptor."""

    info = Info(
        name=NAME,
        title="Wording of responses",
        summary=(
            "which phrases responses have, how much of the prompt they repeat, how long and how varied they are, and "
            "how many are empty, truncated, refused or filtered, by descriptor"
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
        names=VALUES,
        main={name: {} for name in ("parroting_exact", "distinct_2", "share_repeated", "share_empty", "length")},
    )
    needs = Needs("responses", WRITERS)
    resamples = False
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
        answers, repeated = counted_answers(self.info.title, answers)
        design, wordings = read_design(answers), worded.read_wordings(answers)
        figures: list[Figure] = []
        tested: dict[str, list[Figure]] = {}
        for (name, phrase), values in worded.row_values(answers, wordings, self._phrases(settings).all):
            unit = worded.MEANS.get(name, "")
            of = partial(group_figures, NAME, design, name=name, values=values, phrase=phrase, mean_unit=unit)
            figures += [*of(grouping=design.all), *of(grouping=design.axes)]
            if (values > 0).any():
                tested.setdefault(name, []).extend(of(grouping=design.descriptors, tested=name != worded.UNTESTED))
        for name, found in tested.items():
            figures += found if name == worded.UNTESTED else [*found, *corrected(found, benjamini_hochberg)]
        figures += _distinct(wordings, design)
        figures += found_phrases(design, wordings)
        without = {"prompt": "parroting is not measured", "finish": "refused and truncated responses are not counted"}
        notes = [
            f"Wording of responses: there is no column {name}, so {what}"
            for name, what in without.items()
            if name not in answers.column_names
        ]
        return Measured(tuple(figures), notes=(*repeated, *notes))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the finding, phrases, parroting, length and variety, and missing answers."""
        return wording_sections(view)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute how shares of phrases, parroting, length and endings change, paired by response."""
        listed = (f.keys["phrase"] for f in second.figures.by(NAME, "phrase_share", "phrase"))
        phrases = [p for p in listed if first.figures.get(NAME, "phrase_share", {"phrase": p})]
        return compare_wordings(first.answers, second.answers, phrases)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show phrases and parroting before and after."""
        return wording_changes(changes, view)

    def _phrases(self, settings: MeasureSettings | None) -> PhraseList:
        return FILES.read((settings or MeasureSettings()).read(Phrasing).phrases)


def _distinct(wordings: worded.Wordings, design: Design) -> Iterator[Figure]:
    """Distinct words, and pairs of neighbouring words, per word at equal numbers of words."""
    for name, (row, item) in worded.distinct_items(wordings).items():
        for grouping in (design.all, design.axes, design.descriptors):
            found = expected_distinct(grouping.group[row], item, len(grouping), DISTINCT_WORDS)
            total = np.bincount(grouping.group[row], minlength=len(grouping))
            for keys, value, n in zip(grouping.keys, found.tolist(), total.tolist(), strict=True):
                yield figure(name, keys, value / DISTINCT_WORDS, "share", n)


def compare_wordings(first: pa.Table, second: pa.Table, phrases: Sequence[str]) -> tuple[Figure, ...]:
    """The values of both runs and their difference on the responses that both have, over all and by axis.

    What is over all leaves made-up words out. Figures are named as in ``CHANGE_NAMES``; the key ``figure`` names the
    value that changes, and ``phrase`` its phrase. ``p_value`` is corrected over the phrases, and over the axes (Holm
    1979). Raises ``SelectionError`` if the runs have no response in common.
    """
    tables = common_responses(first, second)
    design, wordings = read_design(tables[0]), [worded.read_wordings(table) for table in tables]
    before, after = (dict(worded.row_values(t, words, phrases)) for t, words in zip(tables, wordings, strict=True))
    by_name: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]] = {}
    for (name, phrase), values in before.items():
        if (name, phrase) in after:
            by_name.setdefault(name, {})[phrase] = values, after[name, phrase]
    changes = [
        figure
        for grouping in (design.people, design.axes)
        for name, found in by_name.items()
        for figure in paired_changes(NAME, name, worded.MEANS.get(name, "share"), grouping, found)
    ]
    people = design.people.group >= 0
    of_people = wordings if people.all() else [worded.read_wordings(table.filter(pa.array(people))) for table in tables]
    return (*changes, *_distinct_changes(*of_people))


def _distinct_changes(before: worded.Wordings, after: worded.Wordings) -> Iterator[Figure]:
    """The share of distinct words and pairs in both runs, over all responses in the same order, and its change.

    The interval and the p-value are of a jackknife over up to ``BLOCKS`` blocks of responses, the same in both runs;
    every block has responses with words.
    """
    both = worded.distinct_items(before), worded.distinct_items(after)
    for name in both[0]:
        values, without, counts, keys = [], [], [], {"figure": name}
        rows = np.union1d(*(run[name][0] for run in both))
        blocks = max(min(BLOCKS, len(rows)), 1)
        for run_name, run in zip(("first", "second"), both, strict=True):
            row, item = run[name]
            size = int(item.max(initial=-1)) + 1
            values.append(distinct_of_counts(np.bincount(item, minlength=size), DISTINCT_WORDS) / DISTINCT_WORDS)
            block = np.searchsorted(rows, row) % blocks
            left = distinct_without_blocks(item, block, blocks, size, DISTINCT_WORDS)
            without.append(left / DISTINCT_WORDS)
            counts.append(len(row))
            yield figure(run_name, keys, values[-1], "share", len(row), of=name)
        change, moved = values[1] - values[0], without[1] - without[0]
        error = float(np.sqrt((blocks - 1) / blocks * ((moved - moved.mean()) ** 2).sum()))
        interval, p = estimate(change, error, blocks - 1)
        yield figure("change", keys, change, "share difference", min(counts), interval=interval, p_value=p, of=name)
