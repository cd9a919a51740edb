"""Tables of responses for tests of generation bias, and their figures."""

import numpy as np
import pyarrow as pa
from tests.evaluation.simulated_responses import ResponseWorld

from columns import with_column
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Clusters, MeasureSettings, View
from known import known

NAME = "generation_bias"
MEASURE = MEASURES[NAME]
Row = tuple[str, str, str, float | None, float | None]
CLUSTERS = {"both": ("a", "b"), "first": ("a",)}

TINY: list[Row] = [  # means of a: 0.3 and 0.6, of b: 0.7 and 0.4
    ("x", "t", "one", 0.2, 0.8),
    ("x", "t", "one", 0.4, 0.6),
    ("x", "t", "two", 0.5, 0.5),
    ("x", "t", "two", 0.7, 0.3),
]


def table(rows: list[Row]) -> pa.Table:
    names = ("axis", "template", "descriptor", "p:a", "p:b")
    kinds = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.float64())
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(c, kind) for n, c, kind in zip(names, columns, kinds, strict=True)})


def measure(answers: pa.Table, clusters: Clusters | None = None) -> Figures:
    return Figures(MEASURE.figures(answers, MeasureSettings(clusters=clusters)).figures)


def get(figures: Figures, name: str, **keys: str) -> Figure:
    return known(figures.get(NAME, name, keys))


def value(figures: Figures, name: str, **keys: str) -> float | None:
    return get(figures, name, **keys).value


def random_answers(seed: int) -> pa.Table:
    """Cells of 1 to 4 responses, some of them absent, some responses not judged, in random order."""
    rng = np.random.default_rng(seed)
    world = ResponseWorld(
        axes=3, descriptors=4, templates=3, styles=5, responses=2, unequal=True, effect=0.5, softness=0.5
    )
    answers = world.draw(world.mixtures(rng), rng)
    unjudged = rng.random(answers.num_rows) < 0.2
    for name in [name for name in answers.column_names if name.startswith("p:")]:
        answers = with_column(answers, name, pa.array(answers[name].to_numpy(), mask=unjudged))
    return answers.take(pa.array(rng.permutation(answers.num_rows)[: int(0.9 * answers.num_rows)]))


def view(answers: pa.Table, clusters: Clusters | None = None) -> View:
    return View(measure(answers, clusters), answers)
