import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.retention import line_changes, line_figures
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.results.run import read_run
from holisticbias_eval.sections.tables import Table
from holisticbias_eval.tasks.lines import ask_lines, line_table, read_lines
from invoking import Invoke
from known import ignore, known

NAME = "retention"


def scored(rows: list[tuple[str, float, int, int]]) -> pa.Table:
    """Lines with their nats, tokens and bytes."""
    table = line_table([text for text, *_ in rows])
    kinds = (pa.float64(), pa.int32(), pa.int32())
    for i, (name, kind) in enumerate(zip(("nll", "tokens", "bytes"), kinds, strict=True), 1):
        table = table.append_column(name, pa.array([row[i] for row in rows], kind))
    return table


def get(figures: Figures, name: str, figure: str) -> Figure:
    return known(figures.get(NAME, name, {"figure": figure}))


def test_figures_by_hand() -> None:
    # 6 nats in 3 tokens of 8 bytes and 10 nats in 5 tokens of 12 bytes; the third line has no scored token
    figures = Figures(line_figures(scored([("one", 6.0, 3, 8), ("two", 10.0, 5, 12), ("x", 0.0, 0, 0)]), seed=0))
    perplexity = known(figures.get(NAME, "perplexity"))
    assert perplexity.value == pytest.approx(math.exp(2))
    assert (perplexity.n, perplexity.missing) == (2, 1)
    assert figures.value(NAME, "nats_per_token") == pytest.approx(2)
    assert figures.value(NAME, "byte_perplexity") == pytest.approx(math.exp(0.8))
    assert figures.value(NAME, "tokens") == 8


def test_lines_without_a_scored_token_are_not_among_the_least_likely() -> None:
    answers = scored([("one", 2.0, 1, 3), ("none", 0.0, 0, 4), ("two", 3.0, 1, 3)])
    answers = answers.append_column("perplexity", pa.array([math.exp(2), None, math.exp(3)]))
    view = View(Figures(line_figures(answers, None)), answers)
    (table,) = (block for section in MEASURES[NAME].sections(view) for block in section.blocks
                if isinstance(block, Table) and block.name == "retention-lines")  # fmt: skip
    assert [row[0] for row in table.rows] == ["two", "one"]


def test_changes_by_hand() -> None:
    first = scored([("one", 6.0, 3, 6), ("two", 10.0, 5, 10), ("gone", 1.0, 1, 1), ("half", 3.0, 1, 2)])
    second = scored([("half", 0.0, 0, 0), ("two", 11.0, 5, 10), ("one", 7.0, 3, 6), ("new", 1.0, 1, 1)])
    changes = Figures(line_changes(first, second, seed=0))
    assert get(changes, "first", "perplexity").value == pytest.approx(math.exp(2))
    assert get(changes, "second", "perplexity").value == pytest.approx(math.exp(18 / 8))
    assert get(changes, "change", "nats_per_token").value == pytest.approx(0.25)
    ratio = get(changes, "ratio", "perplexity")
    assert [ratio.value, ratio.n, ratio.missing] == pytest.approx([math.exp(0.25), 2, 1])
    with pytest.raises(SelectionError, match="no line in common"):
        list(line_changes(first.slice(0, 1), second.slice(0, 1), 0))


def test_perplexity_per_token_is_not_compared_across_tokenizers() -> None:
    first, second = scored([("one", 6.0, 3, 6), ("two", 9.0, 4, 8)]), scored([("one", 7.0, 4, 6), ("two", 9.0, 4, 8)])
    changes = Figures(line_changes(first, second, seed=0))
    assert get(changes, "change", "perplexity").value is None
    assert changes.get(NAME, "ratio", {"figure": "perplexity"}) is None
    assert get(changes, "change", "byte_perplexity").value == pytest.approx(math.exp(16 / 14) - math.exp(15 / 14))


def test_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes("\ufeffA first line.\r\n\n  \nA first line.\nCafé\u2028here\n".encode())
    found = read_lines(path)
    table = line_table(found)
    assert table["text"].to_pylist() == ["A first line.", "A first line.", "Café\u2028here"]
    assert table["line"].to_pylist() == [1, 4, 5]
    assert len(set(table["line_id"].to_pylist())) == 3
    assert len(found) - table.num_rows == 2


@pytest.fixture(scope="module")
def scorer(tiny_gpt2: Path) -> Scorer:
    return start_scorer(str(tiny_gpt2), ignore)


def test_windows_count_every_character_once(scorer: Scorer) -> None:
    """A window reads the text before it."""
    texts = ["I'm a friend.", "I love old friends and young parents. " * 40, "é" * 300, "a " * 100 + "  b" * 90]
    found = scorer.windows(texts)
    for text, windows in zip(texts, found, strict=True):
        assert [w.start for w in windows] == [0, *(w.stop for w in windows[:-1])]
        assert windows[-1].stop == len(text)
        assert all(w.begin <= w.start < w.stop for w in windows)
    assert [len(windows) for windows in found] == [1, 23, 18, 11], "62 tokens: one part of 63 has 64"
    assert found[1][1].begin < found[1][1].start


def test_a_long_line_has_the_tokens_of_its_windows(scorer: Scorer) -> None:
    short, long = "I'm an old friend.", "I love old friends and young parents. " * 30
    lines = line_table([short, long])
    asked = ask_lines(lines, scorer)
    answers = asked.answer(scorer.score(asked.together, ignore)).to_pylist()
    alone = scorer.score(whole([short]), ignore)
    assert answers[0]["nll"] == pytest.approx(alone.nll[0])
    assert answers[0]["windows"] == 1
    assert answers[1]["windows"] == len(scorer.windows([long.strip()])[0]) > 1
    assert answers[1]["bytes"] == len(long.strip())
    # one token per character at most, and as many as the tokenizer gives for the whole line
    one = scorer.score(whole([long.strip()[:60]]), ignore)
    rate = one.tokens[0] / 60
    assert answers[1]["tokens"] == pytest.approx(rate * len(long.strip()), rel=0.1)


def test_a_run_of_lines_leaves_blank_lines_out(invoke: Invoke, tiny_gpt2: Path, tmp_path: Path) -> None:
    text = tmp_path / "neutral.txt"
    text.write_text("I'm an old friend.\n\n" + "I love old friends. " * 60 + "\nI'm deaf.\n", "utf-8")
    out = tmp_path / "run"
    said = invoke.printed("evaluate", "--model", tiny_gpt2, "--retain", text, "--out", out, "--no-store")
    assert "in 3 lines" in said
    run = read_run(out)
    assert run.result.signature.release.what == "lines"
    assert run.result.signature.skipped[0].sentences == 1
    answers = run.answers.to_pylist()
    total = sum(row["nll"] for row in answers) / sum(row["tokens"] for row in answers)
    assert Figures(run.result.figures).value(NAME, "perplexity") == pytest.approx(math.exp(total))


def test_the_calibration_model_has_its_own_text(invoke: Invoke, tmp_path: Path) -> None:
    invoke.printed("evaluate", "--measures", NAME, "--out", tmp_path / "run", "--no-store")
    signature = read_run(tmp_path / "run").result.signature
    assert (signature.model.name, signature.release.prompts) == ("embedded-gossip", "calibration-neutral")


def test_the_interval_excludes_no_change_exactly_if_the_test_does() -> None:
    rng, seen = np.random.default_rng(3), set()
    for seed in range(16):
        nats = rng.normal(40, 5, 30)
        moved = nats + rng.normal(0.4, 1.2, 30)
        one, other = (
            scored([(f"line {i}", float(n), 10, 40) for i, n in enumerate(values)]) for values in (nats, moved)
        )
        changes = Figures(line_changes(one, other, seed))
        for figure in ("perplexity", "nats_per_token", "byte_perplexity"):
            change = get(changes, "change", figure)
            interval = known(change.interval)
            excluded = not interval.low <= 0 <= interval.high
            assert excluded == (known(change.p_value) < 0.05)
            seen.add(excluded)
    assert seen == {True, False}
