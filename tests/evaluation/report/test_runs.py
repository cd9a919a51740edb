"""Reports of runs of a model."""

import re
from dataclasses import replace

import pyarrow.compute as pc
import pytest

from altered import altered
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.models.generation.requests import SampledRecord
from holisticbias_eval.models.likelihood.scorer import ExactnessRecord, RoundingRecord
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Report, drawables
from holisticbias_eval.report.runs import comparison_report, run_report
from holisticbias_eval.report.signature import NOT_RUN, signature_rows, signatures_side_by_side
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import Run
from holisticbias_eval.sections.tables import Table

from .html_reader import sound_page
from .invented import HIDDEN, HOSTILE


def test_the_page_of_a_run_begins_with_notes_and_ends_with_hashes(run: Run) -> None:
    source = render_page(run_report(run))
    sound_page(source)
    digest = run.result.signature.release.digest
    assert "What the community preferences mean" in source
    assert source.count(digest) == 1
    assert source.index(digest) > source.index('id="method"')
    noted = altered(run, model={"note": "A calibration model."})
    assert run_report(noted).notes == ("A calibration model.",)
    assert run_report(run).notes == ()
    other = altered(run, model={"name": "other", "weights_sha256": "0" * 64, "note": "Another."})
    assert comparison_report(compare_runs(noted, noted), noted, noted).notes == ("A and B: A calibration model.",)
    both = comparison_report(compare_runs(noted, other), noted, other)
    assert both.notes == ("A: A calibration model.", "B: Another.")


def test_what_only_the_first_run_has_is_named_in_words(run: Run) -> None:
    first = run.answers["descriptor_id"][0].as_py()
    text = run.answers["descriptor"][0].as_py()
    fewer = replace(run, answers=run.answers.filter(pc.not_equal(run.answers["descriptor_id"].cast("string"), first)))
    report = comparison_report(compare_runs(run, fewer), run, fewer)
    cells = {cell for _, part in drawables(report) if isinstance(part, Table) for row in part.rows for cell in row[:1]}
    assert text in cells
    assert first not in cells


def test_a_setting_does_not_take_the_place_of_a_number(run: Run) -> None:
    scoring = {**run.result.signature.scoring, "sentences": "drawn by hand"}
    rows = list(signature_rows(altered(run, scoring=scoring).result.signature))
    assert len(dict(rows)) == len(rows), "rows are found by their names"
    assert "scored of" in dict(rows)["Sentences, number"]


def test_figures_that_were_removed_by_hand_are_not_shown(run: Run) -> None:
    for step in (2, 3, 7):
        figures = run.result.figures[::step]
        sparse = replace(run, result=run.result.model_copy(update={"figures": figures}))
        page = sound_page(render_page(run_report(sparse)))
        assert "tiny-gpt2" in page.all("title")[0][1]


def test_measures_of_a_later_version_are_named(run: Run) -> None:
    signature = run.result.signature
    for measures, count in (((*signature.measures, "later"), 3), (("later",), 2)):
        changed = signature.model_copy(update={"measures": measures})
        later = replace(run, result=run.result.model_copy(update={"signature": changed}))
        said = run_report(later).measured
        assert said[-1] == "Not shown: later, which this version of holisticbias does not have."
        assert len(said) == count
    with pytest.raises(SelectionError, match="this version of holisticbias does not have the measure later: update it"):
        compare_runs(later, later)


def test_a_comparison_names_both_runs_and_what_differs(run: Run) -> None:
    other = altered(run, model={"name": "other", "weights_sha256": "0" * 64})
    report = comparison_report(compare_runs(run, other), run, other)
    assert report.runs == ("tiny-gpt2 on HolisticBias 0.1.0", "other on HolisticBias 0.1.0")
    assert "What differs: model." in report.measured
    limited = altered(run, scoring={**run.result.signature.scoring, "sentences_limit": "9, seed 0"})
    equal = comparison_report(compare_runs(run, limited), run, limited)
    assert "What differs: scoring (sentences limit)." in equal.measured
    assert not any("nats" in line for line in equal.measured), "equal likelihoods are not a difference of 0.00 nats"
    page = sound_page(render_page(report))
    assert {words.split(" differs")[0] for _, words in page.classed("differs")} == {"Model", "Weights, SHA-256"}
    assert page.all("title")[0][1] == f"Two runs side by side: {report.runs[0]} and {report.runs[1]}"


def test_a_model_without_a_run_differs_in_none_of_its_properties(run: Run) -> None:
    """Of several models some may have no run of a name, as different methods of mitigation are measured differently."""
    signature = run.result.signature
    seeded = signature.model_copy(update={"machine": "another"})
    rows = tuple(signatures_side_by_side([("mini", (signature, seeded, None))]))
    assert ("Model", signature.model.name, signature.model.name, NOT_RUN) in rows
    page = sound_page(render_page(Report("Three models", (), rows, runs=("a", "b", "c"))))
    assert [words.split(" differs")[0] for _, words in page.classed("differs")] == ["Machine"]


def test_a_quantized_file_rounding_exactness_and_a_server_that_does_not_sample_stand_in_the_signature(run: Run) -> None:
    signature = altered(run, model={"quantization": "Q4_1, F32", "file_sha256": "f11e" * 16}).result.signature
    exact = ExactnessRecord(method="prefix trees", texts=8, error=0.00021, plain_error=0.00022)
    lost = RoundingRecord(dtype="bfloat16", texts=128, largest=0.514, mean=0.02)
    drawn = SampledRecord(tried=4, same=4, varies=False)
    rows = dict(signature_rows(signature.model_copy(update={"exactness": exact, "rounding": lost, "sameness": drawn})))
    assert rows["With another seed"] == "the same responses: the server may write the likeliest tokens"
    assert rows["Quantization"] == "Q4_1, F32"
    assert rows["File, SHA-256"] == "f11e" * 16
    said = "prefix trees: at most 0.00021 nats from float64 on 8 texts; one text at a time, at most 0.00022"
    assert rows["Exactness"] == said
    said = "bfloat16 instead of float32: on 128 texts tried 0.51 nats off at most, 0.02 on average"
    assert rows["Rounding"] == said
    runs = [("mini", (signature,)), ("other", (run.result.signature,))]
    beside = {name: values for name, *values in signatures_side_by_side(runs)}
    assert (beside["Quantization"], beside["Model"]) == (["Q4_1, F32"], [signature.model.name])
    apart = signature.model_copy(update={"machine": "another"})
    beside = {name: values for name, *values in signatures_side_by_side([("mini", (signature,)), ("other", (apart,))])}
    assert (beside["Machine (mini)"], beside["Machine (other)"]) == ([signature.machine], ["another"])
    assert "Machine" not in beside
    texts = {"conversation_text": "<user>\n{prompt}", "first_tokens": ""}
    measured = signature.model_copy(update={"generation": texts, "measuring": {"medians": {}}})
    of_responses = dict(signature_rows(measured))
    assert (of_responses["Conversation text"], of_responses["First tokens"]) == ("<user>\\n{prompt}", "none")
    assert "Medians" not in of_responses
    plain = run.result.signature.model_copy(update={"exactness": None, "rounding": None})
    assert {"Quantization", "File, SHA-256", "Exactness", "Rounding"}.isdisjoint(dict(signature_rows(plain)))


def test_names_of_models_are_only_text(run: Run) -> None:
    page = sound_page(render_page(run_report(altered(run, model={"name": HOSTILE, "note": HIDDEN}))))
    words = page.all("body")[0][1]
    assert HOSTILE.rpartition("/")[2] in page.all("h1")[0][1]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", words)
