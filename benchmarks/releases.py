"""Speed and memory of building, opening and verifying releases and intersections, relative to floors.

The floor of a build imports pyarrow, joins as many strings as release 1.0.0
has sentences, and writes them as Parquet. The floor of opening and verifying
is the SHA-256 of the files.

    python benchmarks/releases.py [--pairs "ability x body_type"] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FLOOR_ROWS = 26 * 18176
FLOOR_BUILD = """
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
from holisticbias.compile.columns import strings, table
filler = strings([f"a descriptor {i} noun" for i in range(18176)])
parts = [pc.binary_join_element_wise(strings(["What do you think about "])[0], filler, strings(["?"])[0],
                                     strings([""])[0]) for _ in range(26)]
pq.write_table(table({"text": pa.chunked_array(parts)}), OUT + "/floor.parquet", compression="zstd")
"""
BUILD = "sys.exit(main(['build', '--version', '1.0.0', '--out', OUT + '/release']))"
VERIFY = "sys.exit(main(['verify', OUT + '/release']))"
OPEN = "from holisticbias import open_release; open_release(OUT + '/release')"
INTERSECT = "sys.exit(main(['build', '--version', '1.0.0', '--intersections', PAIRS, '--out', OUT + '/pairs']))"
HASH = "import hashlib, pathlib\nfor p in pathlib.Path(OUT, 'release').rglob('*.*'): hashlib.sha256(p.read_bytes())"

MEASURED = """
import resource, sys, time
OUT, PAIRS = sys.argv[1:]
start = time.perf_counter()
from contextlib import suppress
from holisticbias.cli import main
with suppress(SystemExit):
    exec(compile(CODE, "measured", "exec"))
used = resource.getrusage(resource.RUSAGE_SELF)
print("measured", time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one process: wall time and processor time in seconds, peak memory in MB."""

    seconds: float
    processor_seconds: float
    peak_mb: float


def measure(code: str, out: str, pairs: str) -> Cost:
    """Run code in a new process and measure it, including startup and imports."""
    command = [sys.executable, "-c", f"CODE = {code!r}\n{MEASURED}", out, pairs]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Cost(*map(float, done.stdout.splitlines()[-1].split()[1:]))


def figures(pairs: str) -> dict[str, float]:
    """Processor time relative to the floors (for intersections, per sentence), peak memory, and rates."""
    with tempfile.TemporaryDirectory() as out:
        floor, build = measure(FLOOR_BUILD, out, pairs), measure(BUILD, out, pairs)
        hashing, opened, verified = measure(HASH, out, pairs), measure(OPEN, out, pairs), measure(VERIFY, out, pairs)
        crossed = measure(INTERSECT, out, pairs)
        manifest = json.loads(Path(out, "pairs", "manifest.json").read_text("utf-8"))
    rows = manifest["tables"]["intersections"]["rows"]
    return {
        "build_vs_floor": round(build.processor_seconds / floor.processor_seconds, 2),
        "build_peak_mb": round(build.peak_mb, 1),
        "open_vs_floor": round(opened.processor_seconds / hashing.processor_seconds, 2),
        "verify_vs_floor": round(verified.processor_seconds / hashing.processor_seconds, 2),
        "intersections": rows,
        "intersections_vs_floor": round(crossed.processor_seconds / rows / (floor.processor_seconds / FLOOR_ROWS), 2),
        "intersections_a_second": round(rows / crossed.seconds),
        "intersections_a_processor_second": round(rows / crossed.processor_seconds),
        "intersections_peak_mb": round(crossed.peak_mb, 1),
    }


def main() -> None:
    """Print the figures, one per line or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default="ability x body_type, body_type x religion", help="axes to cross")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = figures(options.pairs)
    print(json.dumps(found) if options.json else "\n".join(f"{name:34} {value:,}" for name, value in found.items()))


if __name__ == "__main__":
    main()
