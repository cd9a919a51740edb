"""Time and memory of ``holisticbias build --version 1.0.0``, relative to a floor.

The floor is a new process that imports pyarrow, joins 470,000 strings and
writes them as zstd Parquet. Floor and build take turns. Figures are medians
over whole processes, including startup and imports.
"""

import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from shared import Cost, make_parser, measure_process

SENTENCES = 470_000
HOLISTICBIAS = (sys.executable, "-m", "holisticbias")
FLOOR = f"""
import sys
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

numbers = pa.Array.from_buffers(pa.int64(), {SENTENCES}, [None, pa.py_buffer(np.arange({SENTENCES}))])
texts = pc.binary_join_element_wise("I'm a person with number ", numbers.cast(pa.string()), ".", "")
pq.write_table(pa.table({{"text": texts}}), sys.argv[1], compression="zstd", use_dictionary=False)
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """Medians over all rounds; ``vs_floor`` is the median ratio of build to floor."""

    vs_floor: float
    peak_mb: float
    build_seconds: float
    floor_seconds: float
    help_seconds: float
    rounds: int


def measure_floor(folder: Path) -> Cost:
    """Run the floor once; it writes ``floor.parquet`` into the folder."""
    return measure_process((sys.executable, "-c", FLOOR, str(folder / "floor.parquet")))


def measure_build(folder: Path) -> Cost:
    """Build version 1.0.0 once, into a new subfolder of the folder."""
    return measure_process((*HOLISTICBIAS, "build", "--version", "1.0.0", "--out", tempfile.mkdtemp(dir=folder)))


def benchmark(rounds: int) -> Figures:
    """Measure the floor, a build and ``--help`` in each round."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure_build(folder)  # fill the caches
        costs = [
            (measure_floor(folder), measure_build(folder), measure_process((*HOLISTICBIAS, "--help")))
            for _ in range(rounds)
        ]
    return Figures(
        vs_floor=round(median(build.seconds / floor.seconds for floor, build, _ in costs), 2),
        peak_mb=round(median(build.peak_mb for _, build, _ in costs), 1),
        build_seconds=round(median(build.seconds for _, build, _ in costs), 3),
        floor_seconds=round(median(floor.seconds for floor, _, _ in costs), 3),
        help_seconds=round(median(answer.seconds for _, _, answer in costs), 3),
        rounds=rounds,
    )


def main() -> None:
    """Print the figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds")
    chosen = parser.parse_args()
    figures = benchmark(chosen.rounds)
    if chosen.json:
        print(json.dumps(asdict(figures)))
        return
    print(f"medians of {figures.rounds} rounds")
    print(f"floor: pyarrow, {SENTENCES:,} strings   {figures.floor_seconds:6.3f} s")
    print(f"holisticbias build               {figures.build_seconds:6.3f} s, {figures.vs_floor:.2f} times the floor")
    print(f"  its peak memory                {figures.peak_mb:6.1f} MB")
    print(f"holisticbias --help              {figures.help_seconds:6.3f} s")


if __name__ == "__main__":
    main()
