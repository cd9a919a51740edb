"""Time of scoring pairs of sentences with the calibration model.

``vs_flat`` is the time of scoring pairs, with their table and their scores by stereotype, divided by the time of
scoring their sentences as a flat list. Both run in turn in one process with a loaded model. ``seconds_10k`` is the
time of a whole run of 10,000 pairs without loading the model: reading, scoring, figures and the page.

    python benchmarks/pairs.py [--pairs N] [--repeat N] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from holisticbias_eval.models.likelihood.local import load_scorer
from holisticbias_eval.models.likelihood.scorer import Scorer, score_spans
from holisticbias_eval.models.likelihood.spans import unique_spans, whole
from holisticbias_eval.pipeline.pair_scoring import PairOptions, prepare_pairs
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.pairs import ask_pairs
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.report.write import write_report

TERMS = (("dromel", "tazzin"), ("brindock", "clannet"), ("fimber", "sollop"), ("gabrin", "pellock"))
ATTRIBUTES = ("ferlic", "mivish", "torbent", "calvern", "gondrous", "sarlish", "nelvent", "fundish")
FRAMES = (
    "The {t} is {a} {b} {c}.",
    "Every {t} in the town seems {a} {b} to me {c}.",
    "We saw a {a} {t} at the market {b} {c}.",
    "My friend the {t} says that life is {a} {b} and that it is good {c}.",
)
WHEN = (
    "today",
    "yesterday",
    "in spring",
    "in autumn",
    "at noon",
    "every day",
    "on Sunday",
    "all year",
    "again",
    "at last",
)
WHERE = ("by the sea", "in the hills", "at home", "near the lake", "on the road", "at work", "in the north", "outside")


def make_pairs(number: int) -> pa.Table:
    """Invented pairs of four specifications."""
    made = list(product(FRAMES, WHEN, WHERE, ATTRIBUTES, TERMS))
    rows = [
        {
            "pair_id": str(i),
            "specification": f"invented.{i % 4}",
            "attribute": attribute,
            "sentence": frame.format(t=first, a=attribute, b=when, c=where),
            "other_sentence": frame.format(t=second, a=attribute, b=when, c=where),
            "stereotyped": "sentence" if i % 2 else "other_sentence",
        }
        for i, (frame, when, where, attribute, (first, second)) in ((i, made[i * 7 % len(made)]) for i in range(number))
    ]
    return pa.Table.from_pylist(rows)


def as_pairs(pairs: pa.Table, scorer: Scorer) -> object:
    """Score both sentences of each pair."""
    asked = ask_pairs(pairs, with_changed=False)
    distinct, rows = unique_spans(asked.together)
    return asked.answer(score_spans(distinct, scorer, lambda _: None).take(rows))


def as_list(pairs: pa.Table, scorer: Scorer) -> object:
    """Score the same sentences as a flat list."""
    texts = [*pairs["sentence"].to_pylist(), *pairs["other_sentence"].to_pylist()]
    distinct, rows = unique_spans(whole(texts))
    return score_spans(distinct, scorer, lambda _: None).take(rows)


def seconds(run: Callable[[], object]) -> float:
    """The time of a call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def whole_run(scorer: Scorer, folder: Path, number: int) -> None:
    """A run of pairs from the file to the page, with a model that is loaded already."""
    path, display = folder / "pairs.parquet", Display(Console(stderr=True, quiet=True))
    pq.write_table(make_pairs(number), path)
    with patch("holisticbias_eval.pipeline.pair_scoring.start_engine", lambda *_: scorer):  # it is loaded already
        (job,) = prepare_pairs(None, [("stereotype_score",)], PairOptions(path), None, None, display)
    write_report(run_report(job.run(display)), "html", None, folder / "report.html")


def main() -> None:
    """Measure, and print ratios and seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    scorer, pairs = load_scorer(None, lambda _: None), make_pairs(given.pairs)
    as_list(pairs.slice(0, 500), scorer)
    ratios = [
        seconds(lambda: as_pairs(pairs, scorer)) / seconds(lambda: as_list(pairs, scorer)) for _ in range(given.repeat)
    ]
    with tempfile.TemporaryDirectory() as folder:
        spent = seconds(lambda: whole_run(scorer, Path(folder), given.pairs))
    found = {"pairs": given.pairs, "vs_flat": statistics.median(ratios), "seconds_10k": spent * 10_000 / given.pairs}
    if given.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name} {value:.3g}" for name, value in found.items()))


if __name__ == "__main__":
    main()
