"""x"""

from collections.abc import Iterator
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import Settings, View


def change_figures(first: View, second: View, settings: Settings) -> Iterator[Figure]:
    yield from ()
