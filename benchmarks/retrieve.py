"""Speed and memory of retrieving from JSON lines in .zst, relative to unpacking them and splitting them into lines.

One comment in fifty mentions a group. The memory is that of the command's process; it must not depend on the size.

    python benchmarks/retrieve.py [--megabytes N ...]
"""

import json
import multiprocessing
import random
import tempfile
from pathlib import Path

import zstandard

from shared import make_parser, measure_code

LINES = 100_000
UNPACK = """
from pathlib import Path
from holisticbias_eval.tables.content import read_lines
print(sum(1 for _ in read_lines(Path(sys.argv[1]), lambda _: None)))
"""
RETRIEVE = """
from holisticbias_eval.commands.retrieve import command
options = ["--specification", "calibration-many", sys.argv[1], "--out", sys.argv[2]]
command(options, standalone_mode=False)
"""


def comments(count: int) -> bytes:
    """JSON lines in the form of Reddit archives, of random words."""
    draw = random.Random(0)  # noqa: S311 - not a secret
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(20_000)]
    lines = []
    for number in range(count):
        text = draw.choices(words, k=draw.randint(5, 60))
        if not number % 50:
            group = draw.choice(["Blickets", "stadish", "mells", "kemfitcher"])
            text[len(text) // 2 : len(text) // 2] = [group, "are", draw.choice(["grannic", "lumeny", "tall"])]
        row = {
            "author": draw.choice(words),
            "body": " ".join(text),
            "created_utc": 1_600_000_000 + number,
            "id": f"{draw.getrandbits(36):x}",
            "link_id": f"t3_{draw.getrandbits(30):x}",
            "score": draw.randint(-5, 500),
            "subreddit": draw.choice(words),
            "permalink": f"/r/{draw.choice(words)}/comments/{draw.getrandbits(30):x}/",
            "author_flair_text": None,
            "edited": False,
        }
        lines.append(json.dumps(row))
    return "".join(f"{line}\n" for line in lines).encode()


def write_archive(path: Path, megabytes: int) -> None:
    """Write one zstd frame of about this size: the same comments again and again, further apart than its window."""
    part = comments(LINES)
    with (
        path.open("wb") as file,
        zstandard.ZstdCompressor(level=1, threads=2).stream_writer(file, closefd=False) as writer,
    ):
        while file.tell() < megabytes * 1_000_000:
            writer.write(part)


def main() -> None:
    """Print a line for each size."""
    parser = make_parser(__doc__, as_json=False)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[20, 100], help="sizes of the .zst files")
    sizes = parser.parse_args().megabytes
    spawning = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            archive = Path(name) / f"{size}.zst"
            writer = spawning.Process(target=write_archive, args=(archive, size))
            writer.start()  # not in this process, whose memory the system would count as that of its children
            writer.join()
            lines, floor, _ = measure_code(UNPACK, str(archive))
            _, seconds, memory = measure_code(RETRIEVE, str(archive), str(Path(name) / f"{size}.parquet"))
            print(
                f"{size} MB, {int(lines):,} lines: {int(lines) / seconds:,.0f} lines a second, "
                f"{seconds / floor:.1f} times unpacking alone, {memory:.0f} MB of memory"
            )
            archive.unlink()


if __name__ == "__main__":
    main()
