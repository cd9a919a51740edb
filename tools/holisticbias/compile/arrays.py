"""Names for NumPy arrays. ``Int32s`` are indices and codes, as in Arrow; counts and sums are ``Int64s``."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bools: TypeAlias = npt.NDArray[np.bool_]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
