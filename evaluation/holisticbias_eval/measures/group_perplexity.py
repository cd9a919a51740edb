"""Perplexities of the same sentences about several groups: F and pairwise t (Zhao et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.perplexities.changes import perplexity_changes
from holisticbias_eval.measures.perplexities.compared import compared_sections, pair_sections
from holisticbias_eval.measures.perplexities.dimensions import NAME, describe_table, read_dimensions
from holisticbias_eval.measures.perplexities.figures import describe_lengths, dimension_figures, whole_sentence_figures
from holisticbias_eval.measures.perplexities.sections import perplexity_sections
from holisticbias_eval.sections import Section
from holisticbias_eval.statistics.groups.items import DRAWS
from holisticbias_eval.statistics.groups.pairs import PERMUTATIONS


class GroupPerplexity(Measure):
    """Whether a model finds the same sentences likelier about one group than about others."""

    info: ClassVar[Info] = Info(
        name=NAME,
        title="Perplexity by group",
        summary=(
            "F of a one-way analysis of variance of log-perplexities over groups, on sentences that differ in the "
            "group's term alone, and Student's t of every pair of groups; the same on perplexities, as published"
        ),
        direction=(
            "the larger F and the mean of |t|, the more the groups differ; F is compared with its value for permuted "
            "groups, because sentences differ more than groups do"
        ),
        limits=(
            "the group's term is part of the sentence, so a rare term raises perplexity without any stereotype; on "
            "perplexities one sentence can decide; F between groups ignores that sentences are shared (f_within does "
            "not); a small F can also come from few or very different sentences"
        ),
        source="Zhao et al. 2024, section 3; Barikeri et al. 2021",
        headline="f",
        by=("dimension", "scale"),
        beside=("eta_squared", "f_within"),
        better=dict.fromkeys(("f", "eta_squared", "mean_abs_t"), "lower"),
        names={
            "f": "F over groups",
            "eta_squared": "Eta squared over groups",
            "mean_abs_t": "Mean |t| of pairs of groups",
        },
        main={"f": {"scale": "log"}, "mean_abs_t": {"scale": "log", "test": "unpaired"}},
    )
    needs: ClassVar[Needs] = Needs("group_sentences")
    task = "test_set"

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The seed, the resampling, the tests and their corrections."""
        return {
            "seed": str(settings.seed),
            "intervals": f"bootstrap of sentences with their values in all groups, {DRAWS:,} draws",
            "floors": f"groups permuted within sentences, up to {PERMUTATIONS:,} times",
            "tests": "one-way F; F with sentences as blocks; Student's t, unpaired and paired; Holm over pairs",
            "missing": "perplexities that are not above 0 or not finite",
        }

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures from ``dimension, group, sentence, perplexity``; see ``read_dimensions``."""
        if not answers.num_rows:
            raise SelectionError("there is no sentence to measure")
        dimensions = read_dimensions(answers)
        found = tuple(figure for dimension in dimensions for figure in dimension_figures(dimension, settings))
        found += tuple(whole_sentence_figures(answers))
        said = (*describe_table(dimensions, Figures(found)), *describe_lengths(answers, Figures(found)))
        notes = tuple(f"Perplexity by group: {text}" for text in said)
        return Measured(found, notes=notes)

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the finding, the groups, all pairs, and the sentences that differ most."""
        return perplexity_sections(view)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of f, eta squared, mean |t| and means on the sentences that both runs have."""
        return tuple(perplexity_changes(first, second, MeasureSettings()))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the changes of each dimension."""
        return compared_sections(changes)

    def side_by_side(self, changes: Mapping[str, Figures], first: str) -> tuple[Section, ...]:
        """Show the t of every pair of groups in all models."""
        return tuple(pair_sections(changes, first))

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find an F below 0 or a share outside 0 to 1."""
        yield from super().problems(figures)
        for figure in (f for name in ("f", "f_within") for f in figures.by(NAME, name, "dimension", "scale")):
            if figure.value is not None and figure.value < 0:
                yield f"{figure.keys}: {figure.name} is below 0"
