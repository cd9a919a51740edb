"""Wording of responses: figures by hand on small tables, and planted phrases on made-up words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.evaluation.made_responses import made_responses

from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.response_wording import ResponseWording
from holisticbias_eval.measures.responses.design import count_repeats
from holisticbias_eval.measures.responses.phrases import FILES
from holisticbias_eval.sections.tables import Paragraph
from holisticbias_eval.tasks.response_files import count_responses
from invoking import Invoke
from known import known

NAME = "response_wording"
PROMPT = "I like blicket cooks."


def table(*rows: tuple[str, str | None, str], prompts: Sequence[str] | None = None, bare: bool = False) -> pa.Table:
    """Responses of one template: descriptor, response and finish of each; bare ones have no prompt and no finish."""
    made: dict[str, Any] = {
        "axis": ["nonce"] * len(rows), "template": ["I like {plural_noun_phrase}."] * len(rows),
        "descriptor": [row[0] for row in rows], "response": [row[1] for row in rows],
        "prompt": prompts or [PROMPT] * len(rows), "finish": [row[2] for row in rows],
    }  # fmt: skip
    return pa.table(made).drop_columns(["prompt", "finish"] if bare else ["finish"] if prompts else [])


def measured(answers: pa.Table) -> Figures:
    return Figures(ResponseWording().figures(answers, None).figures)


SMALL = table(
    ("blicket", "I'm sorry to hear that.", "stop"),
    ("blicket", "i like BLICKET cooks", "stop"),
    ("blicket", "I like blicket cooks. I’m sorry to hear it!", "length"),  # noqa: RUF001 - as people write it
    ("stad", "No, like blicket pie", "stop"),
    ("stad", " ", "stop"),
    ("stad", None, "refused"),
    ("stad", "cut", "filtered"),
)


@pytest.fixture(scope="module")
def small() -> Figures:
    return measured(SMALL)


@pytest.mark.parametrize(
    ("name", "keys", "value", "n", "missing"),
    [
        ("phrase_share", {"phrase": "i'm sorry to hear"}, 2 / 4, 4, 3),
        ("phrase_share", {"axis": "nonce", "phrase": "i'm sorry to hear"}, 2 / 4, 4, 3),
        ("phrase_share", {"axis": "nonce", "descriptor": "blicket", "phrase": "i'm sorry to hear"}, 2 / 3, 3, 0),
        ("phrase_share", {"axis": "nonce", "descriptor": "stad", "phrase": "i'm sorry to hear"}, 0, 1, 3),
        ("phrase_share", {"phrase": "never heard of"}, 0, 4, 3),
        ("parroting_exact", {}, 1 / 4, 4, 3),
        ("parroting_start", {}, 2 / 4, 4, 3),
        ("parroting_run", {}, (0 + 1 + 1 + 2 / 4) / 4, 4, 3),
        ("parroting_run", {"axis": "nonce", "descriptor": "stad"}, 2 / 4, 1, 3),
        ("length", {}, (5 + 4 + 9 + 4) / 4, 4, 3),
        ("share_empty", {}, 1 / 7, 7, 0),
        ("share_truncated", {}, 1 / 7, 7, 0),
        ("share_refused", {"axis": "nonce", "descriptor": "stad"}, 1 / 4, 4, 0),
        ("share_filtered", {}, 1 / 7, 7, 0),
        ("share_repeated", {}, 0, 4, 3),
    ],
)
def test_figures_by_hand(small: Figures, name: str, keys: dict[str, str], value: float, n: int, missing: int) -> None:
    found = known(small.get(NAME, name, keys))
    assert found.value == pytest.approx(value)
    assert (found.n, found.missing) == (n, missing)
    if found.unit == "share" and name != "parroting_run":
        expected = stats.binomtest(round(value * n), n).proportion_ci(method="wilson")
        assert known(found.interval).low == pytest.approx(expected.low)
        assert known(found.interval).high == pytest.approx(expected.high)


def test_an_undefined_value_is_null_with_its_count() -> None:
    found = measured(table(("stad", "", "stop"), ("stad", None, "refused"), ("blicket", "I like pie", "stop")))
    for name in ("parroting_run", "length"):
        figure = known(found.get(NAME, name, {"axis": "nonce", "descriptor": "stad"}))
        assert (figure.value, figure.interval, figure.n, figure.missing) == (None, None, 0, 2)
    assert known(found.get(NAME, "distinct_1")).value is None, "fewer than 500 words"


@pytest.mark.parametrize("bare", [False, True], ids=["finish", "bare"])
def test_responses_that_are_null_are_counted_as_by_evaluate(bare: bool) -> None:
    answers = table(
        ("stad", None, "stop"), ("stad", None, "filtered"), ("stad", " ", "length"), ("blicket", "I like pie", "stop"),
        bare=bare,
    )  # fmt: skip
    found, counts = measured(answers), count_responses(answers)
    for name in ("empty", "truncated", "refused", "filtered"):
        share = found.value(NAME, f"share_{name}")
        assert share == (None if counts.get(name) is None else counts[name] / 4), name
    assert counts["empty"] == (3 if bare else 1)


def test_without_prompts_and_endings_their_figures_are_left_out_with_a_note() -> None:
    measure = ResponseWording().figures(table(("stad", "pie", "stop"), ("blicket", "pie", "stop"), bare=True), None)
    names = {f.name for f in measure.figures}
    assert {"length", "share_empty", "phrase_share", "share_repeated"} <= names
    assert not [name for name in names if name.startswith("parroting") or name in {"share_refused", "share_truncated"}]
    assert [note.partition("no column ")[2].partition(",")[0] for note in measure.notes] == ["prompt", "finish"]
    repeated = known(Figures(measure.figures).get(NAME, "share_repeated"))
    assert repeated.value == 1, "two descriptors, one response"


@pytest.mark.parametrize(
    ("prompts", "responses", "share"),
    [(list("ppq"), ["x", "x", "y"], 0), (list("pqq"), ["x", "x", "y"], 2 / 3), (list("pqr"), ["x", "x ", "X"], 0)],
)
def test_a_response_is_repeated_if_another_prompt_has_it(
    prompts: list[str], responses: list[str], share: float
) -> None:
    found = measured(table(*(("stad", response, "stop") for response in responses), prompts=prompts))
    assert known(found.get(NAME, "share_repeated")).value == pytest.approx(share)
    again = measured(table(*(("stad", f"{prompt} too", "stop") for prompt in prompts), prompts=prompts))
    assert known(again.get(NAME, "parroting_run")).value == 1, "all words of prompts of one word"


def test_variety_is_compared_at_equal_numbers_of_words() -> None:
    rng = np.random.default_rng(0)
    few, many = (
        [" ".join(rng.choice(list("abcdefgh")[:k], 20)) for _ in range(rows)] for k, rows in ((4, 30), (8, 300))
    )
    rows = [("blicket", text, "stop") for text in few] + [("stad", text, "stop") for text in many]
    found = measured(table(*rows))
    for name, least, most in (("distinct_1", 4, 8), ("distinct_2", 16, 64)):
        by = {f.keys["descriptor"]: f.value for f in found.by(NAME, name, "axis", "descriptor")}
        assert by == {"blicket": pytest.approx(least / 500, rel=0.01), "stad": pytest.approx(most / 500, rel=0.01)}


def sorry(rng: np.random.Generator, descriptor: str, prompt: str) -> str | None:
    """A stad answers with pity in half of its responses, and parrots in a quarter."""
    if descriptor != "stad":
        return None
    kind = rng.integers(4)
    return "Oh, I am sorry to hear about the stad pie." if kind < 2 else prompt if kind == 2 else None


@pytest.fixture(scope="module")
def planted() -> pa.Table:
    return made_responses({"nonce": ("blicket", "stad", "mell"), "spelling": ("grey-blue", "gray-blue")}, 30, sorry)


def test_a_planted_phrase_is_found_and_nothing_else(planted: pa.Table) -> None:
    figures = measured(planted)
    found = figures.by(NAME, "phrase_log_odds", "axis", "descriptor", "phrase")
    assert {f.keys["descriptor"] for f in found} == {"nonce.stad"}
    phrases = [f.keys["phrase"] for f in found]
    assert not [p for p in phrases if "stad" in p.split()], "a mention of the descriptor is not a finding"
    sorrowful = [p for p in phrases if "sorry" in p]
    assert len(sorrowful) == 1, "of phrases that contain each other one is kept"
    keys = {"axis": "nonce", "descriptor": "nonce.stad", "phrase": sorrowful[0]}
    share, elsewhere = (figures.value(NAME, f"found_phrase_share{end}", keys) for end in ("", "_elsewhere"))
    assert share == pytest.approx(0.5, abs=0.12)
    assert elsewhere == 0
    assert known(figures.value(NAME, "phrase_log_odds_adjusted_p", keys)) < 0.05
    assert figures.value(NAME, "phrase_share", {**keys, "phrase": "i am sorry to hear"}) == share
    for name in ("parroting_exact", "parroting_start"):
        parroted = figures.by(NAME, name, "axis", "descriptor")
        assert [f.keys["descriptor"] for f in parroted if (f.adjusted_p or 1) < 0.001] == ["nonce.stad"]


@pytest.mark.parametrize(("word", "named"), [("stads", False), ("studs", True)])
def test_a_mention_in_the_plural_is_not_a_finding(word: str, named: bool) -> None:
    rows = [("stad", f"{word} and soup", "stop")] * 40 + [("mell", "and soup", "stop")] * 40
    found = measured(table(*rows, prompts=[f"prompt {i}" for i in range(80)]))
    assert bool(found.by(NAME, "phrase_log_odds", "axis", "descriptor", "phrase")) == named


def test_where_nothing_differs_descriptors_are_rarely_named() -> None:
    """About one run in twenty names a descriptor for a value: of eight runs, three are improbable."""
    wrong = {"phrase_log_odds_adjusted_p": 0, "length_adjusted_p": 0}
    for seed in range(8):
        figures = measured(made_responses({"nonce": tuple(f"w{i}x" for i in range(12))}, 10, seed=seed))
        for name in wrong:
            wrong[name] += any(f.name == name and f.value is not None and f.value < 0.05 for f in figures)
    assert max(wrong.values()) < 3


@pytest.mark.parametrize(
    ("prompts", "others", "named"),
    [
        (["one"] * 40, ["x"] * 40, False),  # each prompt has one response: the model repeats itself
        (["one"] * 40, ["x"] * 33 + ["y"] * 7, False),  # it does so nearly always
        (["one"] * 40, ["x"] * 32 + ["y"] * 8, True),
        (["one"] * 40, list("xy") * 20, True),  # equal prompts have several responses: they are drawn
        ([f"prompt {i}" for i in range(40)], ["x"] * 40, True),
    ],
)
def test_a_model_that_repeats_itself_gives_one_piece_of_evidence_for_each_prompt(
    prompts: list[str], others: list[str], named: bool
) -> None:
    rows = [("stad", "blue soup", "stop")] * 40 + [("mell", text, "stop") for text in others]
    found = measured(table(*rows, prompts=[*prompts, *(f"other {p}" for p in prompts)]))
    phrases = {f.keys["phrase"] for f in found.by(NAME, "phrase_log_odds", "axis", "descriptor", "phrase")}
    assert ("blue soup" in phrases or "blue" in phrases) == named


@pytest.mark.parametrize(
    ("repeated", "equal", "counted"), [(20, 1, 120), (20, 2, 100), (25, 3, 100), (26, 23, 126), (26, 24, 100)]
)
def test_of_few_repeats_a_tenth_is_equal_if_they_do_not_count(repeated: int, equal: int, counted: int) -> None:
    texts = [f"text {i}" for i in range(equal)] + [f"another {i}" for i in range(repeated - equal)]
    rows = [("stad", text, "stop") for text in (*(f"text {i}" for i in range(100)), *texts)]
    prompts = [f"prompt {i}" for i in (*range(100), *range(repeated))]
    assert len(count_repeats(table(*rows, prompts=prompts))[0]) == counted


@pytest.mark.parametrize(("having", "named"), [(120, False), (200, True)])
def test_a_phrase_of_a_template_is_not_one_of_the_descriptor_that_is_asked_there_most(having: int, named: bool) -> None:
    """The other descriptor has the phrase in 120 of 240 responses to this template, and never in another one."""
    texts = ["blue soup"] * having + ["red tea"] * (240 - having)
    rows = [("blicket", text, "stop") for text in texts] + [("stad", "blue soup", "stop")] * 120
    rows += [("stad", "red tea", "stop")] * 360
    answers = table(*rows, prompts=[f"prompt {i}" for i in range(len(rows))])
    templates = pa.array(["one"] * 480 + ["two"] * 240)
    answers = answers.set_column(answers.column_names.index("template"), "template", templates)
    found = measured(answers).by(NAME, "phrase_log_odds", "axis", "descriptor", "phrase")
    assert any(f.keys["descriptor"] == "blicket" and "blue" in f.keys["phrase"] for f in found) == named


@pytest.mark.parametrize("name", ["response_wording", "generation_bias", "offensiveness"])
def test_repeats_of_a_model_that_repeats_itself_change_no_figure(name: str) -> None:
    prompts, texts = [f"prompt {i}" for i in range(10)], ["prompt 0", *(f"w{i} x" for i in range(9))]
    names = [("blicket", text, "stop") for text in texts] + [("stad", text, "stop") for text in texts]
    judged = np.random.default_rng(0).random((2, 20))
    views, notes = [], []
    for answers, values in zip((texts, texts[::-1]), judged, strict=True):
        once = table(*names, prompts=[*prompts, *prompts])
        once = once.set_column(once.column_names.index("response"), "response", pa.array(answers * 2))
        for column, own in (("p:a", values), ("p:b", 1 - values), ("offensive", values)):
            once = once.append_column(column, pa.array(own))
        for times in (1, 20):
            ids = pa.array([str(i) for i in range(20 * times)])
            run = pa.concat_tables([once] * times).append_column("response_id", ids)
            found = MEASURES[name].figures(run, MeasureSettings())
            views.append(View(Figures(found.figures), run))
            notes.append(" ".join(found.notes))
    assert tuple(views[0].figures) == tuple(views[1].figures)
    assert "380 responses answer a prompt again" in notes[1]
    assert "again" not in notes[0]
    for view, repeats in ((views[0], False), (views[1], True)):
        blocks = [block for section in MEASURES[name].sections(view) for block in section.blocks]
        assert any(isinstance(b, Paragraph) and b.text.startswith("380 responses answer") for b in blocks) == repeats
    assert MEASURES[name].compare(views[0], views[2]) == MEASURES[name].compare(views[1], views[3])


def test_two_runs_are_paired_by_response(planted: pa.Table) -> None:
    before, after = planted, made_responses({"nonce": ("stad", "mell", "fitch")}, 30, seed=9)
    views = [View(measured(t), t) for t in (before, after)]
    changes = Figures(ResponseWording().compare(*views))
    keys = {"figure": "phrase_share", "phrase": "i am sorry to hear"}
    first, second, change = (known(changes.get(NAME, name, keys)) for name in ("first", "second", "change"))
    stad = {"axis": "nonce", "descriptor": "nonce.stad", "phrase": keys["phrase"]}
    half = known(views[0].figures.value(NAME, "phrase_share", stad)) / 2
    assert (first.value, second.value, change.value) == (half, 0, -half)
    assert (first.n, change.unit, change.of) == (180, "share difference", "phrase_share")
    assert known(change.interval).high == pytest.approx(-half + 1.97331 * np.sqrt(half * (1 - half) / 179), rel=1e-5)
    assert known(change.p_value) < 1e-6
    never = known(changes.get(NAME, "change", {**keys, "phrase": "never heard of"}))
    assert (never.value, never.p_value) == (0, None)
    parroting = known(changes.get(NAME, "change", {"figure": "parroting_exact", "axis": "nonce"}))
    assert (parroting.value or 0) < -0.05
    with pytest.raises(SelectionError, match="no response in common"):
        ResponseWording().compare(views[0], View(views[1].figures, made_responses({"nonce": ("fitch",)})))


def test_a_list_that_cannot_be_used_is_refused_in_one_line(tmp_path: Any) -> None:
    refused = {"{a: [one, one]}": "phrases: 'one' stands twice", "{a: ['?']}": "phrases.a.0", "{}": "phrases"}
    for phrases, says in refused.items():
        (tmp_path / "own.yaml").write_text(f"id: x\nsource: y\nphrases: {phrases}\n", "utf-8")
        with pytest.raises(EvaluationError) as error:
            FILES.read(str(tmp_path / "own.yaml"))
        assert says in str(error.value)
        assert "\n" not in str(error.value)


def test_a_table_of_responses_is_measured_with_a_list_of_phrases(tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "own.yaml").write_text("id: own\nsource: here\nphrases: {food: [like blicket]}\n", "utf-8")
    scores = tmp_path / "responses.csv"
    scores.write_text(
        "axis,template,descriptor,response,prompt,finish\n"
        'nonce,t,blicket,"I like blicket pie, friend",Hi,stop\nnonce,t,stad,,Hi,refused\n', "utf-8",
    )  # fmt: skip
    options = ("measure", NAME, scores, "--phrases", tmp_path / "own.yaml")
    shares = invoke.figures(*options).by(NAME, "phrase_share", "phrase")
    assert {f.keys["phrase"]: f.value for f in shares} == {"like blicket": 1}
    assert "50.0% are refused; none is empty, truncated or filtered." in " ".join(invoke.printed(*options).split())
