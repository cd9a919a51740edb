"""The benchmark of generation runs on any model. Its timings are not checked: tests run in parallel."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import numpy as np

from known import known
from tiny_models import tiny_loaded


def test_every_figure_is_a_number(root: Path) -> None:
    spec = known(importlib.util.spec_from_file_location("benchmark_generation", root / "benchmarks" / "generation.py"))
    benchmark = importlib.util.module_from_spec(spec)
    known(spec.loader).exec_module(benchmark)
    figures = benchmark.measure(tiny_loaded("llama"), benchmark.sentences(8), 1, time.perf_counter, few=1)
    assert figures["same_in_any_batch"] == 1.0
    for key in ("vs_one_by_one", "vs_batched", "vs_generate_batch", "tokens_per_second"):
        assert np.isfinite(figures[key])
        assert figures[key] > 0
    assert figures["peak_mb_over_model"] >= 0
