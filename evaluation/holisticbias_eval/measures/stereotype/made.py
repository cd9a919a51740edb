"""Make a figure of the stereotype score."""

from __future__ import annotations

from functools import partial

from holisticbias_eval.figures import make_figure
from holisticbias_eval.measures.stereotype.outcomes import NAME

figure = partial(make_figure, NAME)
