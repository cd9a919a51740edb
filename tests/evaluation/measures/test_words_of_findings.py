"""Reports of missing figures, and of changes that no number shows, in words."""

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from tests.golden import inputs

from changes import changed
from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.sections.tables import Paragraph
from invoking import Invoke
from row_files import Rows

ROW = {"axis": "age", "descriptor": "old", "template": "I'm {noun_phrase}.", "response": "Hi."}
GROUPED = {**ROW, "dimension": "one", "sentence": "s", "perplexity": 9.0}
ANSWERS = pa.Table.from_pylist([{**GROUPED, "group": group} for group in ("a", "b")])
BY_OTHERS = ("likelihood_bias", "medians", "love_hate", "pseudo_likelihood_bias", "dialogue_state", "retained")


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in (*BY_OTHERS, "intersections")])
def test_a_run_without_figures_of_a_measure_has_no_section_of_it(name: str) -> None:
    assert MEASURES[name].sections(View(Figures(()), ANSWERS)) == ()


def missing(rows: Rows, *names: str) -> Rows:
    return [{**row, **dict.fromkeys(names)} for row in rows]


@pytest.mark.parametrize(
    ("measure", "rows", "code", "message"),
    [
        ("generation_bias", inputs.STYLES[:1], 0, "Generation bias is not defined: no template has responses to two"),
        ("group_perplexity", missing(inputs.GROUPS, "perplexity"), 0, "one: F of log-perplexity is not defined."),
        ("stereotype_score", missing(inputs.PAIRS, "stereotyped"), 0, "No specification has a pair with both scores"),
        ("response_wording", missing(inputs.STYLES, "response"), 0, "Of all responses 100.0% are empty."),
        ("dialogue_state", missing(inputs.CANDIDATES, "probability"), 2, "no candidate has a probability: there is"),
    ],
)
def test_a_table_without_values_says_so(
    measure: str, rows: Rows, code: int, message: str, tmp_path: Path, invoke: Invoke
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    found, *said = invoke("measure", measure, path)
    assert (found, message in " ".join(" ".join(said).split())) == (code, True), said


SCORE, RETENTION = "stereotype_score", "retention"


def score(value: float | None, p: float | None = None) -> list[Figure]:
    values = (0.5, None if value is None else 0.5 + value)
    made = changed(SCORE, SCORE, {"specification": "dax"}, values)
    return [figure.model_copy(update={"adjusted_p": p}) for figure in made]


def ratio(value: float | None) -> Figure:
    return make_figure(RETENTION, "ratio", {"figure": "byte_perplexity"}, value, "ratio", 8)


@pytest.mark.parametrize(
    ("measure", "figures", "words"),
    [
        (SCORE, score(None), "No specification has pairs with an outcome in both runs."),
        (SCORE, score(0.2), "No change is shown on 1 specification."),
        (SCORE, score(0.2, 0.001), "The score changes on 1 of 1 specification: dax (20.0%)."),
        (RETENTION, [ratio(1.2)], "per token do not compare. No change of perplexity per byte is shown on"),
        (RETENTION, [ratio(None)], "perplexities per token do not compare."),
    ],
)  # fmt: skip
def test_the_words_of_a_change(measure: str, figures: list[Figure], words: str) -> None:
    section, *_ = MEASURES[measure].compared_sections(Figures(figures), View(Figures(()), ANSWERS))
    assert words in next(block.text for block in section.blocks if isinstance(block, Paragraph))


def test_a_number_that_one_run_lacks_is_not_compared() -> None:
    def view(*metrics: str) -> View:
        keys: Mapping[str, str] = {"task": "arc"}
        made = [make_figure("retained", "value", {**keys, "metric": name}, 0.5, "number", 1) for name in metrics]
        return View(Figures(made), ANSWERS)

    found = MEASURES["retained"].compare(view("acc", "f1"), view("f1"))
    assert {figure.keys["metric"] for figure in found} == {"f1"}
