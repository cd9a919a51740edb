"""Options, processes, timing and printing of the benchmarks.

Importing this module imports no large package: the peak memory of a process counts that of the process that starts it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import isnan
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

    from holisticbias_eval.arrays import Floats
    from holisticbias_eval.figures import Figure

ROOT = Path(__file__).resolve().parent.parent

Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}
MEASURED = """
import resource, sys, time
start = time.perf_counter()
CODE
print("measured", time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
Result = TypeVar("Result")


def make_parser(about: str | None, *, as_json: bool = True) -> argparse.ArgumentParser:
    """A parser with the docstring of a benchmark as its help, and with ``--json``."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    if as_json:
        parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add ``--runs`` and ``--seed`` of simulations."""
    parser.add_argument("--runs", type=int, default=200, help="runs in each world")
    parser.add_argument("--seed", type=int, default=0)


def add_clock(parser: argparse.ArgumentParser, threads: int) -> None:
    """Add ``--threads`` and ``--clock``."""
    parser.add_argument("--threads", type=int, default=threads, help="threads of torch")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu counts only this process's time")


def set_clock(options: argparse.Namespace) -> Clock:
    """Set the threads of torch, and return the chosen clock."""
    import torch

    torch.set_num_threads(options.threads)
    return CLOCKS[options.clock]


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one process: wall and processor time in seconds, peak resident memory in MB (10^6 bytes)."""

    seconds: float
    processor_seconds: float
    peak_mb: float


def measure_process(command: Sequence[str]) -> Cost:
    """Run a command in the repository; ``CalledProcessError`` if it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def measure_code(code: str, *arguments: str) -> tuple[str, float, float]:
    """The first word printed, the seconds and the peak memory in MB of a new process that runs code."""
    command = [sys.executable, "-c", MEASURED.replace("CODE", code), *arguments]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return words[0], float(words[-2]), float(words[-1])


def timed(run: Callable[[], Result], clock: Clock = time.perf_counter) -> tuple[Result, float]:
    """The result of a run, and its seconds."""
    start = clock()
    result = run()
    return result, clock() - start


def time_in_turn(
    contenders: Mapping[str, Callable[[], Result]], rounds: int, clock: Clock = time.perf_counter
) -> tuple[dict[str, Result], dict[str, float]]:
    """The last result and the median seconds of each contender; in each round they run in turn."""
    results: dict[str, Result] = {}
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            results[name], taken = timed(run, clock)
            seconds[name].append(taken)
    return results, {name: median(taken) for name, taken in seconds.items()}


def peak_over(run: Callable[[], object]) -> float:
    """Peak resident memory added by a run, in MB."""
    import psutil

    process, stop, peak = psutil.Process(), threading.Event(), 0
    before = process.memory_info().rss

    def watch() -> None:
        nonlocal peak
        while not stop.wait(0.005):
            peak = max(peak, process.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    run()
    stop.set()
    thread.join()
    return max(0, peak - before) / 1e6


def paper_sentences() -> pa.Table:
    """The sentences of release 1.0.0."""
    from holisticbias import build_release, load_catalog

    return build_release(load_catalog(ROOT), "1.0.0").sentences


def print_figures(figures: Mapping[str, float], *, as_json: bool, heading: str = "") -> None:
    """Print figures by key, under a heading, or as one JSON object."""
    if as_json:
        print(json.dumps(figures))
        return
    lines = (f"{key:28} {value:,.6g}" for key, value in figures.items())
    print("\n".join([heading] * bool(heading) + list(lines)))


def torch_heading(model: str) -> str:
    """The number of threads, the version of torch and the model."""
    import torch

    return f"{torch.get_num_threads()} threads, torch {torch.__version__}, {model}"


def simulate_worlds(
    worlds: Mapping[str, Any],
    simulate: Callable[[Any], Mapping[str, float | None]],
    runs: int,
    *,
    as_json: bool,
) -> None:
    """Simulate each world, and print its figures and the seconds of a run: a line, or JSON with its parameters."""
    for name, world in worlds.items():
        figures, seconds = timed(partial(simulate, world))
        known = {key: None if value is None or isnan(value) else round(value, 3) for key, value in figures.items()}
        shown = {**known, "seconds": round(seconds / runs, 3)}
        if as_json:
            print(json.dumps({"world": name, **asdict(world), "runs": runs, **shown}), flush=True)
        else:
            print(f"{name:50}" + "".join(f"  {key} {value}" for key, value in shown.items()), flush=True)


def simulate_designs(
    names: Sequence[str],
    designs: Iterable[Sequence[Any]],
    simulate: Callable[..., Mapping[str, float]],
    *,
    as_json: bool,
) -> None:
    """Simulate each design, whose parameters have names, and print a line for each, or everything as JSON."""
    rows = []
    for design in designs:
        about, found = dict(zip(names, design, strict=True)), simulate(*design)
        rows.append({**about, **found})
        if not as_json:
            values = "  ".join(f"{name} {value:.3f}" for name, value in found.items())
            print(f"{', '.join(f'{name} {value}' for name, value in about.items())}: {values}", flush=True)
    if as_json:
        print(json.dumps(rows, indent=2))


def covers(figures: Sequence[Figure], truth: Sequence[float]) -> Floats:
    """1 for each interval that holds the true value, 0 for the others, and NaN for missing intervals."""
    import numpy as np

    ends = [(np.nan, np.nan) if f.interval is None else (f.interval.low, f.interval.high) for f in figures]
    low, high = np.array(ends).reshape(-1, 2).T
    held: Floats = np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))
    return held
