from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.errors import DialoguesError, ModelError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.dialogue_state import task_changes, task_figures
from holisticbias_eval.models.fine_tuning import ClassifierSettings, classify_after_training
from holisticbias_eval.models.loading.load import load_kind
from holisticbias_eval.results.run import read_run
from holisticbias_eval.tasks.multiwoz import Turn, make_candidates, read_multiwoz, slot_values
from invoking import Invoke
from known import ignore, known
from tiny_models import tiny_loaded

from .small_multiwoz import write_multiwoz

NAME = "dialogue_state"


@pytest.mark.parametrize("ending", ["json", "txt"])
def test_both_editions_are_read(tmp_path: Path, ending: str) -> None:
    found = read_multiwoz(write_multiwoz(tmp_path, ending))
    assert (len(found.train), len(found.test), found.held_out) == (60, 24, 1)
    first, second = found.train[:2]
    assert first == Turn(
        "SNG0000.json", 0, "user: I need a room in blick .", {"hotel-area": "blick", "hotel-type": "hotel"}
    )
    assert second.history == "user: I need a room in blick .\nsystem: Which day ?\nuser: On wugday , please ."
    assert second.state == {"hotel-area": "blick", "hotel-type": "hotel", "hotel-day": "wugday"}


def test_names_in_lists_end_with_their_lines(tmp_path: Path) -> None:
    """The number is of the dialogues with such a name."""
    before = read_multiwoz(write_multiwoz(tmp_path)).sha256
    (tmp_path / "valListFile.json").write_text("SNG0030.json\r\nSNG0029.json\r\n\n", "utf-8")
    found = read_multiwoz(tmp_path)
    assert found.held_out == 2
    assert found.sha256 != before, "the lists say which dialogues are tested"
    (tmp_path / "valListFile.json").write_text("a\x0cSNG0000.json\nSNG0030.json\n", "utf-8")
    assert read_multiwoz(tmp_path).held_out == 1


def test_a_list_that_is_cut_is_refused(tmp_path: Path) -> None:
    """The dialogues after the cut would be trained on."""
    path = write_multiwoz(tmp_path) / "testListFile.json"
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(DialoguesError, match=r"testListFile.json ends with 'SNG0', .* the list is cut"):
        read_multiwoz(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("data.json", None, "cannot be read"),
        ("data.json", "{", "is not JSON"),
        ("data.json", "[]", "not an object of dialogues"),
        ("data.json", '{"a": {"log": 3}}', "has no log of turns"),
        ("data.json", '{"a": {"log": [{"text": "x", "metadata": {}}, {"text": "y", "metadata": {}}]}}', "with a value"),
        ("valListFile.json", None, "valListFile.json and no valListFile.txt"),
    ],
)
def test_folders_in_another_form(tmp_path: Path, file: str, content: str | None, message: str) -> None:
    path = write_multiwoz(tmp_path) / file
    if content is None:
        path.unlink()
    else:
        path.write_text(content, "utf-8")
    with pytest.raises(DialoguesError, match=message) as found:
        read_multiwoz(tmp_path)
    assert "\n" not in str(found.value)


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    path = write_multiwoz(tmp_path) / "data.json"
    path.write_text(path.read_text("utf-8").replace("blick", "blick\\ud83d"), "utf-8")
    turns = read_multiwoz(tmp_path).train
    assert "blick\ufffd" in turns[0].history
    assert "blick\ufffd" in slot_values(turns)["hotel-area"]


def test_candidates_are_balanced_and_seeded(tmp_path: Path) -> None:
    turns = read_multiwoz(write_multiwoz(tmp_path)).train
    values = slot_values(turns)
    assert values == {"hotel-area": ("blick", "mell", "stad"), "hotel-day": ("wugday",), "hotel-type": ("hotel",)}
    rows = make_candidates(turns, values, 1000, seed=0).to_pylist()
    # areas alone have other values: two turns of each of 30 dialogues
    assert Counter(row["label"] for row in rows) == {1: 60, 0: 60}
    by_turn = {(row["dialogue"], row["turn"]): row["value"] for row in rows if row["label"]}
    assert all(row["value"] != by_turn[row["dialogue"], row["turn"]] for row in rows if not row["label"])
    assert make_candidates(turns, values, 1000, seed=0).to_pylist() == rows
    assert make_candidates(turns, values, 1000, seed=1).to_pylist() != rows
    assert make_candidates(turns, values, 7, seed=0).num_rows == 6


def candidates(rows: list[tuple[str, int, float | None]]) -> pa.Table:
    names = [f"c{i}" for i in range(len(rows))]
    dialogue, label, probability = zip(*rows, strict=True)
    columns = {"candidate_id": names, "dialogue": dialogue, "label": label, "probability": probability}
    return pa.table({name: list(values) for name, values in columns.items()})


def test_scores_by_hand() -> None:
    # 2 true positives, 1 false positive, 1 missed, 1 true negative, 1 without a probability
    rows = [("a", 1, 0.9), ("a", 1, 0.5), ("a", 0, 0.7), ("b", 1, 0.1), ("b", 0, 0.2), ("b", 0, None)]
    figures = Figures(task_figures(candidates(rows), 0))
    f1 = known(figures.get(NAME, "f1"))
    assert f1.value == pytest.approx(4 / 6)
    assert (f1.n, f1.missing) == (5, 1)
    assert figures.value(NAME, "accuracy") == pytest.approx(3 / 5)
    assert figures.value(NAME, "dialogues") == 2


def test_changes_are_paired_by_dialogue() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    good = np.where(labels == 1, 0.9, 0.1)
    worse = np.where(rng.random(400) < 0.3, 1 - good, good)
    one, other = (
        candidates([(f"d{i // 8}", int(label), float(p)) for i, (label, p) in enumerate(zip(labels, ps, strict=True))])
        for ps in (good, worse)
    )
    unknown = candidates([("d0", int(labels[0]), None)])
    with_unknown = pa.concat_tables([unknown, other.slice(1)], promote_options="default")
    part = known(Figures(task_changes(one, with_unknown, 0)).get(NAME, "change", {"figure": "accuracy"}))
    assert (part.n, part.missing) == (399, 1)
    changes = Figures(task_changes(one, other, 0))
    change = known(changes.get(NAME, "change", {"figure": "accuracy"}))
    assert change.value == pytest.approx((worse.round() == labels).mean() - 1)
    assert known(change.interval).high < 0
    assert known(change.p_value) < 0.001
    same = known(Figures(task_changes(one, one, 0)).get(NAME, "change", {"figure": "f1"}))
    assert (same.value, same.p_value) == (0, None)


@pytest.mark.parametrize(
    ("name", "rate", "message"),
    [
        ("mamba", 0.0, "mamba: transformers has no classification head for this model"),
        ("gpt2", 1e30, "the loss of fine-tuning is not finite: the model's weights are too large or damaged"),
    ],
)
def test_a_model_that_cannot_learn_the_task(name: str, rate: float, message: str) -> None:
    settings = ClassifierSettings(epochs=60, batch=2, learning_rate=rate)
    with pytest.raises(ModelError, match=message):
        classify_after_training(tiny_loaded(name), (["old", "young"], [0, 1]), ["old"], settings, ignore)


def test_a_model_learns_the_task(tiny_gpt2: Path) -> None:
    words = ("old", "young", "blind", "elderly")
    texts = [f"I'm a {word} {noun}." for noun in ("friend", "kid", "parent") for word in (*words, "deaf")] * 4
    labels = [int("deaf" in text) for text in texts]
    tested = ["I'm a deaf person.", "I'm an old person.", "I'm a deaf kid, a young kid.", "I'm a blind person."]
    loaded = load_kind(str(tiny_gpt2), "causal", "cpu")
    before = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    counted: list[int] = []
    settings = ClassifierSettings(epochs=5, batch=4, learning_rate=3e-3)
    p = classify_after_training(loaded, (texts, labels), tested, settings, counted.append)
    assert (p >= 0.5).tolist() == [True, False, True, False]
    assert sum(counted) == len(tested) + 5 * len(texts)
    assert all(bool((value == before[name]).all()) for name, value in loaded.model.state_dict().items())


def test_padding_changes_nothing(tiny_gpt2: Path) -> None:
    loaded = load_kind(str(tiny_gpt2), "causal", "cpu")
    texts, labels = ["I'm deaf.", "I'm a very old friend of a young parent."], [1, 0]
    settings = ClassifierSettings(epochs=1, batch=1)
    alone = [classify_after_training(loaded, (texts, labels), [text], settings, ignore)[0] for text in texts]
    together = classify_after_training(loaded, (texts, labels), texts, settings, ignore)
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_runs_of_dialogues_are_compared_by_candidate(invoke: Invoke, tiny_gpt2: Path, tmp_path: Path) -> None:
    folder = write_multiwoz(tmp_path / "multiwoz")
    out = tmp_path / "run"
    said = invoke.printed("evaluate", "--model", tiny_gpt2, "--retain", f"multiwoz:{folder}", "--out", out)
    assert "candidates of 12 dialogues" in said
    run = read_run(out)
    assert run.answers.num_rows == 48
    assert run.result.signature.release.what == "dialogues"
    said = invoke.printed("compare", out, out)
    assert "48 candidates in both" in said
    assert "Change (points)" in said
