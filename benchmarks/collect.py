"""Speed and memory of collecting prompts from a generated dump, relative to parsing its XML alone.

One page in fifty is a member of the collection's category. The memory is that of the command's process; it must not
depend on the number of pages.

    python benchmarks/collect.py [--megabytes N ...]
"""

import tempfile
from pathlib import Path
from typing import TextIO

from shared import make_parser, measure_code

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
PARSE = """
from xml.parsers import expat
print("parsed")
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


def main() -> None:
    """Print a line for each size."""
    parser = make_parser(__doc__, as_json=False)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[25, 100], help="sizes of the dumps")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "groups.yaml").write_text(GROUPS)
        for size in parser.parse_args().megabytes:
            dump = work / f"{size}.xml"
            with dump.open("w") as file:
                pages = write_dump(file, size)
            _, floor, _ = measure_code(PARSE, str(dump))
            arguments = [str(path) for path in (dump, work / "groups.yaml", work / f"out-{size}")]
            _, seconds, memory = measure_code(COLLECT, *arguments)
            print(
                f"{size} MB, {pages:,} pages: {seconds / floor:.1f} times the parser alone, {memory:.0f} MB of memory"
            )


if __name__ == "__main__":
    main()
