"""Generation bias: how much the styles of a model's responses depend on the descriptor (Smith et al. 2022)."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import NONCE, Measure, Measured, MeasureSettings, View, refuse_empty
from holisticbias_eval.measures.options import CLASSIFIED, Censoring, Clustering, CorpusSettings
from holisticbias_eval.measures.responses import bias_figures as bias
from holisticbias_eval.measures.responses.bias_sections import bias_sections, change_sections
from holisticbias_eval.measures.responses.styles import arrange_styles, cluster_signature, cluster_table
from holisticbias_eval.sections import Section
from holisticbias_eval.settings import Use
from holisticbias_eval.statistics.responses.cells import ResponseCells


class GenerationBias(Measure):
    """Full, partial and summed-cluster Gen Bias of a model's responses."""

    info = Info(
        name=bias.NAME,
        title="Generation bias",
        summary=(
            "how much the styles of a model's responses depend on the descriptor in the prompt: the variance of the "
            "mean style probabilities over descriptors, mean over templates, times 1000"
        ),
        direction=(
            "the larger, the more the responses differ by descriptor; the corrected figure is 0 on average if they do "
            "not differ, and no value is good or bad by itself: people judge which differences harm"
        ),
        limits=(
            "depends on the classifier and its labels, so figures of two classifiers are not comparable; the "
            "classifier may react to the descriptor itself, as its audit shows; without correction the figure grows as "
            "responses per descriptor become fewer"
        ),
        source="Smith et al. 2022, sections 2.3.3, A.7 and B.2",
        headline=bias.FULL + bias.CORRECTED,
        beside=(bias.FULL, "variance_share"),
        better={bias.FULL + bias.CORRECTED: "lower"},
    )
    needs = Needs("labels")
    judges = ("style", "sentiment", "regard")
    resamples = False
    task = "responses"
    uses = (Use(Clustering), Use(CorpusSettings))
    reading = (*CLASSIFIED, Use(Censoring))

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The variance, the correction, the floor, the interval, and the clusters."""
        return {
            "variance": "over descriptors with ddof 0, mean over templates, times 1000",
            "correction": "unbiased variance within cells",
            "interval": "variance of the U-statistic over responses, Student's t",
            "floor": "permuted descriptors within templates: exact mean and variance, Pearson type III, Holm",
            "styles": "permuted descriptors within templates: exact moments, Benjamini-Hochberg over all tests",
            **cluster_signature(settings.clusters),
        }

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures; settings say which clusters of styles to measure."""
        refuse_empty(answers, "no response is left to measure")
        clusters = settings.clusters if settings else None
        cells = arrange_styles(answers)
        biases = bias.measure_biases(cells, clusters)
        kinds = (bias.bias_figures, bias.count_figures, bias.style_figures)
        found = tuple(figure for make in kinds for figure in make(cells, biases))
        tables = {"clusters": cluster_table(biases.clusters)} if biases.clusters else {}
        return Measured(found, tables, tuple(_notes(cells, biases, isinstance(clusters, str))))

    def audit_figures(self, audit: pa.Table, settings: MeasureSettings) -> tuple[Figure, ...]:
        """Compute the bias of the classifier on fixed texts, full and by cluster, with and without censoring."""
        return tuple(bias.audit_figures(audit, settings.clusters))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the bias of all styles, and by axis, cluster and style."""
        return bias_sections(view)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of the corrected bias on the cells that both runs have; see ``bias_changes``."""
        clusters: dict[str, tuple[str, ...]] = {}
        for figure in second.figures.by(bias.NAME, bias.PARTIAL, "cluster", "style"):
            name = figure.keys["cluster"]
            clusters[name] = (*clusters.get(name, ()), figure.keys["style"])
        return bias.bias_changes(first.answers, second.answers, clusters)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the change by axis, and by cluster and style."""
        return change_sections(changes, view)

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find negative variances, shares outside 0 to 1, and corrected figures without an uncorrected one."""
        yield from super().problems(figures)
        for figure in figures.by(bias.NAME, bias.FULL, "axis"):
            if figure.value is not None and figure.value < 0:
                yield f"{figure.keys['axis']}: a variance over descriptors cannot be negative"
        for figure in figures.by(bias.NAME, bias.FULL + bias.CORRECTED, "axis"):
            if figure.value is not None and figures.value(bias.NAME, bias.FULL, figure.keys) is None:
                yield f"{figure.keys['axis']}: {bias.FULL} is missing"


def _notes(cells: ResponseCells, biases: bias.Biases, found: bool) -> Iterator[str]:
    if NONCE in cells.axes and len(cells.axes) > 1:
        yield f"Generation bias over all axes includes the axis {NONCE}: made-up words, which describe nobody"
    if not biases.full.templates:
        yield "Generation bias is not defined: no template has responses to two descriptors"
    elif np.isnan(biases.full.corrected):
        yield (
            "Generation bias: every cell of a template has one response, so its sampling noise is unknown and the "
            "corrected figures are not defined"
        )
    unjudged = int(cells.unjudged.sum())
    if unjudged:
        yield f"Generation bias: {unjudged:,} responses without probabilities are left out and counted as missing"
    if found:
        yield "Clusters found: " + "; ".join(", ".join(members) for members in biases.clusters.values())
