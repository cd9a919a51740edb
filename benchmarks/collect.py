"""Speed and memory of collecting prompts from a generated dump, relative to parsing its XML alone.

One page in fifty is a member of the collection's category. The memory is that of the command's process; it must not
depend on the number of pages.

    python benchmarks/collect.py [--megabytes N ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

PARAGRAPH = " ".join(f"The river number {i} runs past many towns of the long valley." for i in range(60))
PAGE = """  <page>
    <title>Glorbist {number}</title>
    <ns>0</ns>
    <id>{number}</id>
    <revision>
      <id>{number}</id>
      <timestamp>2026-01-01T00:00:00Z</timestamp>
      <model>wikitext</model>
      <text xml:space="preserve">A glorbist {number} is a person who folds maps of cloth. {paragraph}
{category}</text>
    </revision>
  </page>
"""
GROUPS = "groups:\n  - {id: osk.trades, text: Trades, domain: profession, pages: {categories: [Trades]}}\n"
MEASURED = """
import resource, sys, time
from pathlib import Path
start = time.perf_counter()
CODE
print("measured", time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
PARSE = """
from xml.parsers import expat
with open(sys.argv[1], "rb") as file:
    expat.ParserCreate().ParseFile(file)
"""
COLLECT = """
from holisticbias_eval.commands.collect import command
options = ["--dump", sys.argv[1], "--collection", sys.argv[2], "--out", sys.argv[3]]
command(options, standalone_mode=False)
"""


def write_dump(file: TextIO, megabytes: int) -> int:
    """Write a dump of about this size, and return the number of pages."""
    file.write('<mediawiki><siteinfo><namespaces><namespace key="14">Category</namespace></namespaces></siteinfo>\n')
    count = 0
    while file.tell() < megabytes * 1_000_000:
        for _ in range(100):
            category = "" if count % 50 else "[[Category:Trades]]"
            file.write(PAGE.format(number=count, paragraph=PARAGRAPH, category=category))
            count += 1
    file.write("</mediawiki>\n")
    return count


def measure(code: str, *arguments: str) -> tuple[float, float]:
    """Seconds and peak memory in MB of a new process that runs code."""
    command = [sys.executable, "-c", MEASURED.replace("CODE", code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[25, 100], help="sizes of the dumps")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "groups.yaml").write_text(GROUPS)
        for size in parser.parse_args().megabytes:
            dump = work / f"{size}.xml"
            with dump.open("w") as file:
                pages = write_dump(file, size)
            floor, _ = measure(PARSE, str(dump))
            seconds, memory = measure(COLLECT, str(dump), str(work / "groups.yaml"), str(work / f"out-{size}"))
            print(
                f"{size} MB, {pages:,} pages: {seconds / floor:.1f} times the parser alone, {memory:.0f} MB of memory"
            )


if __name__ == "__main__":
    main()
