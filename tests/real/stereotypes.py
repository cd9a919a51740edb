"""Let a trained model write test sentences for stereotypes, pair and score them, and check files, figures and page.

    PYTHONPATH=tests/support python -m tests.real.stereotypes [REQUESTS]

The model is SmolLM2-135M-Instruct, which ``check.py`` unpacks: as generator and as tested model, on two specifications
and the control of invented words, with at most REQUESTS requests for an attribute, by default 3.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pyarrow.parquet as pq
from scipy.stats import binomtest
from tests.real.check import BUILD, MODEL, holisticbias, prepare, run_checks

from holisticbias_eval.figures import Figures
from holisticbias_eval.results.run import read_run
from holisticbias_eval.stereotypes.acceptance import RULES
from holisticbias_eval.stereotypes.targets import has_term
from known import known

SENTENCES, PAIRS, RUN = BUILD / "sentences", BUILD / "pairs", BUILD / "stereotypes"
STORE = ("--store", BUILD / "responses-store")
SPECIFICATIONS = ("mathematics-or-arts", "age-and-leisure", "invented-words")


def main() -> None:
    """Run every check; stop at the first that fails."""
    prepare()
    requests = sys.argv[1] if len(sys.argv) > 1 else "3"
    run_checks(check_sentences(requests), check_pairs(), check_scores())


def check_sentences(requests: str) -> Iterator[str]:
    """Sentences have both terms; every returned text is in the log, accepted or with the rule that refused it."""
    names = [part for name in SPECIFICATIONS for part in ("--specification", f"stereotypes.{name}")]
    options = ("--generator", MODEL, "--ask", "chat", "--requests", requests, "--out", SENTENCES, "--overwrite")
    start = time.perf_counter()
    holisticbias("stereotypes", "sentences", *names, *options, *STORE)
    yield f"sentences: {time.perf_counter() - start:.0f} s"
    made = rows(SENTENCES / "sentences.parquet")
    log = rows(SENTENCES / "requests.parquet")
    record = json.loads((SENTENCES / "sentences.json").read_text("utf-8"))
    assert len(log) == record["texts"]
    assert sum(row["accepted"] for row in log) == len(made) == record["accepted"]
    assert {row["rule"] for row in log if not row["accepted"]} <= {rule.id for rule in RULES} | {"refused"}
    assert all(has_term(row["sentence"], row["term"]) and has_term(row["sentence"], row["attribute"]) for row in made)
    assert 0.05 < len(made) / len(log) < 0.6, len(made) / len(log)
    yield f"yield: {len(made)} of {len(log)} texts, {dict(Counter(row['specification'] for row in made))}"
    yield from (row["sentence"] for row in made[:5])


def check_pairs() -> Iterator[str]:
    """A pair differs in the group's words alone; nearly every sentence can be converted."""
    holisticbias("stereotypes", "pairs", "--sentences", SENTENCES, "--out", PAIRS)
    pairs = rows(PAIRS / "pairs.parquet")
    own = [row for row in pairs if row["source"] == "generated"]
    kept = [row for row in own if row["other_sentence"] is not None]
    assert len(kept) > 0.8 * len(own)
    assert all(has_term(row["other_sentence"], row["other_term"]) for row in kept)
    assert not any(row["sentence"] == row["other_sentence"] for row in kept)
    yield f"pairs: {len(kept)} of {len(own)} sentences, {len(pairs) - len(own)} of templates"


def check_scores() -> Iterator[str]:
    """The figures are those of plain arithmetic and scipy on the scores of the run."""
    options = ("--model", MODEL, "--store", BUILD / "store", "--out", RUN, "--overwrite")
    holisticbias("evaluate", "--pairs", PAIRS, *options)
    run = read_run(RUN)
    figures = Figures(run.result.figures)
    chosen: dict[str, dict[str, list[float]]] = {}
    for row in run.answers.to_pylist():
        if row["source"] == "generated" and row["other_sentence"] is not None:
            found = chosen.setdefault(row["specification"], {}).setdefault(row["attribute"], [])
            found.append(float(row["score_stereotype"] > row["score_antistereotype"]))
    assert len(chosen) == len(SPECIFICATIONS)
    for name, attributes in chosen.items():
        keys, every = {"specification": name}, [value for values in attributes.values() for value in values]
        score, share = (known(figures.get("stereotype_score", f, keys)) for f in ("stereotype_score", "share"))
        value = known(score.value)
        assert abs(value - mean(map(mean, attributes.values()))) < 1e-9
        assert abs(known(share.p_value) - binomtest(int(sum(every)), len(every)).pvalue) < 1e-9
        yield f"{name}: {value:.1%} {score.interval}, {len(every)} pairs"
    page = (RUN / "report.html").read_text("utf-8")
    assert "Yield of the generator" in page
    assert "Baseline" in page
    yield f"page: {len(page):,} characters"


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


if __name__ == "__main__":
    main()
