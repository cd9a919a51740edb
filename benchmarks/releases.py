"""Speed and memory of building, opening and verifying releases and intersections, against the machine's floor.

The floor of building is what no program in Python can do without: importing
pyarrow, joining as many strings as release 1.0.0 has sentences, and writing
them as Parquet. That of opening and verifying is the SHA-256 of the files.

    python benchmarks/releases.py [--pairs "ability x body_type"]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FLOOR_BUILD = """
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
from holisticbias.columns import strings, table
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


def measure(code: str, out: str, pairs: str) -> tuple[float, float, float]:
    """Seconds of wall time, seconds of processors, and MB at the most, of a process of its own."""
    command = [sys.executable, "-c", f"CODE = {code!r}\n{MEASURED}", out, pairs]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, processors, memory = map(float, done.stdout.splitlines()[-1].split()[1:])
    return seconds, processors, memory


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", default="ability x body_type, body_type x religion")
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as out:
        print(f"{os.cpu_count()} processors; wall s, processor s, MB, times the floor (processor time)")
        floor = line("floor of building", measure(FLOOR_BUILD, out, pairs))
        line("build 1.0.0", measure(BUILD, out, pairs), floor)
        hashing = line("floor of checking", measure(HASH, out, pairs))
        line("open", measure(OPEN, out, pairs), hashing)
        line("verify", measure(VERIFY, out, pairs), hashing)
        wall, processors, memory = measure(INTERSECT, out, pairs)
        line("intersections", (wall, processors, memory))
        rows = json.loads(Path(out, "pairs", "manifest.json").read_text("utf-8"))["tables"]["intersections"]["rows"]
        print(f"{rows:,} intersections: {rows / wall:,.0f} a second, {rows / processors:,.0f} a processor second")


def line(name: str, figures: tuple[float, float, float], floor: float | None = None) -> float:
    """Print one line and return the processor time."""
    wall, processors, memory = figures
    ratio = "" if floor is None else f"  {processors / floor:.1f}x"
    print(f"{name:20} {wall:7.2f} {processors:7.2f} {memory:7.0f}{ratio}")
    return processors


if __name__ == "__main__":
    main()
