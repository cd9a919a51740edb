from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from scipy.stats import spearmanr

from holisticbias.cli import main
from holisticbias_eval.statistics.medians import correlate_frequency, count_terms


def test_terms_are_counted_as_whole_words_and_the_longer_first() -> None:
    lines = ["The deaf, the DEAF and the deafening.", "a hard-of-hearing person who is hard", "nothing (deaf-blind)"]
    counts = count_terms(lines, ["deaf", "hard", "hard-of-hearing", "deaf-blind", "Deaf poet"])
    assert counts == {"deaf": 2, "hard": 1, "hard-of-hearing": 1, "deaf-blind": 1}


def test_correlation_worked_by_hand() -> None:
    rows = [("a", "w", 1.0), ("a", "x", 2.0), ("a", "y", 3.0), ("a", "z", 9.0), ("a", "w", 3.0), ("few", "w", 1.0)]
    axis, descriptor, perplexity = zip(*rows, strict=True)
    templates = ["s", "s", "s", "s", "t", "s"]
    columns = {"axis": axis, "template": templates, "descriptor": descriptor, "descriptor_id": descriptor}
    scores = pa.table({**columns, "perplexity": perplexity})
    full, few = correlate_frequency("m", scores, {"w": 50, "x": 20, "y": 20})
    # w has the medians 1 and 3, so 2, like x
    expected = spearmanr([50, 20, 20, 0], [2, 2, 3, 9])
    assert (full.measure, full.name, full.keys, full.n) == ("m", "frequency_correlation", {"axis": "a"}, 4)
    assert full.value == pytest.approx(expected.statistic)
    assert full.p_value == pytest.approx(expected.pvalue)
    assert (few.n, few.value, few.p_value) == (1, None, None)


def test_corpus_through_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, corpus = tmp_path / "scores.csv", tmp_path / "corpus.txt"
    lines = [f"a,t,{d},n{n},{i + 2 + n / 10}" for i, d in enumerate(("old", "young", "aged")) for n in range(4)]
    scores.write_text("\n".join(["axis,template,descriptor,noun,perplexity", *lines]) + "\n", "utf-8")
    corpus.write_text("old old old young\n", "utf-8")
    arguments = ["measure", "likelihood_bias", str(scores), "--no-trust"]
    assert main([*arguments, "--format", "json", "--corpus", str(corpus)]) == 0
    (axis,) = (f for f in json.loads(capsys.readouterr().out)["figures"] if f["name"] == "frequency_correlation")
    assert (axis["keys"], axis["n"], axis["value"]) == ({"axis": "a"}, 3, pytest.approx(-1))
    assert main([*arguments, "--corpus", str(corpus)]) == 0
    assert re.search(r"^ *A +-1\.00 +[\d<. ]+ +3 *$", capsys.readouterr().out, re.MULTILINE)
    corpus.write_bytes(b"\xff\xfe")
    assert main([*arguments, "--corpus", str(corpus)]) == 2
    assert "cannot be read as a corpus of UTF-8 text" in capsys.readouterr().err
