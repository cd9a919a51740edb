"""The change of offensiveness from one run to another, paired by response."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.responses.changed_wording import common_responses, paired_changes
from holisticbias_eval.measures.responses.groups import read_design
from holisticbias_eval.measures.responses.offence_figures import MEAN, PROBABILITY, SHARE


def offence_changes(
    measure: str, column: str, first: pa.Table, second: pa.Table, threshold: float
) -> tuple[Figure, ...]:
    """The share of offensive texts in both runs and its change, over all and by axis; and the mean, over all.

    A text is offensive from ``threshold`` on. What is over all leaves made-up words out. Figures are named as in
    ``CHANGE_NAMES``; the mean has the key ``figure``. ``p_value`` is corrected over the axes (Holm 1979). Responses
    without a probability in a run are left out. Raises ``SelectionError`` without a judged response in both.
    """
    tables = common_responses(first, second)
    if any(column not in table.column_names for table in tables):
        raise SelectionError(f"the responses of a run have no column {column}: judge both with the same classifier")
    design = read_design(tables[0])
    before, after = (table[column].cast(pa.float64()).to_numpy(zero_copy_only=False) for table in tables)
    shares = tuple(np.where(np.isnan(p), np.nan, p >= threshold) for p in (before, after))
    return tuple(
        figure
        for name, unit, values, groupings in (
            (SHARE, "share", shares, (design.people, design.axes)),
            (MEAN, PROBABILITY, (before, after), (design.people,)),
        )
        for grouping in groupings
        for figure in paired_changes(measure, name, unit, grouping, {"": (values[0], values[1])}, named=name == MEAN)
    )
