"""``holisticbias mitigate`` on the calibration model: folders, grids, groups, interruptions and mistakes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from safetensors.numpy import load_file
from transformers import ByT5Tokenizer

from holisticbias.cli import main
from holisticbias_eval.commands.mitigate import command
from holisticbias_eval.corpus.calibration import calibration_corpus, calibration_split
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.errors import EvaluationError, MitigationError
from holisticbias_eval.mitigation import loop, search
from holisticbias_eval.mitigation.corpus import CorpusLessons
from holisticbias_eval.mitigation.measuring import Measuring, refuse_other_run
from holisticbias_eval.mitigation.page import mitigation_report
from holisticbias_eval.mitigation.record import Mitigation, read_mitigation
from holisticbias_eval.models.embedded import GOSSIP, SHIPPED
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.models.loading.load import load_kind
from holisticbias_eval.progress import Display
from holisticbias_eval.results.run import is_run, read_run
from holisticbias_eval.results.run_sets import find_sets
from holisticbias_eval.tasks.task import Given
from tiny_models import tiny_model, tiny_tokenizer

pytestmark = pytest.mark.long
QUICK = ("--steps", 4, "--batch", 4, "--learning-rate", 1e-3, "--evaluations", 2, "--device", "cpu")


def mitigate(*arguments: Any, fails: bool = False) -> Result:
    result = CliRunner().invoke(command, [str(one) for one in arguments])
    if not fails and result.exception is not None:
        raise result.exception
    return result


def refusal(*arguments: Any) -> str:
    error = mitigate(*arguments, fails=True).exception
    assert isinstance(error, EvaluationError), error
    assert "\n" not in str(error)
    return str(error)


def fail(*_: Any, **__: Any) -> None:
    raise AssertionError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LMD and CTDA with two quick trainings, measured."""
    out = tmp_path_factory.mktemp("mitigate") / "out"
    said = mitigate("lmd,ctda", *QUICK, "--out", out)
    assert f"Model: {out / 'lmd'}\nModel: {out / 'ctda'}\nReport: {out / 'report.html'}\n" in said.stdout
    return out


def sentences_about_groups(record: Mitigation) -> int:
    """The sentences of the corpus that are trained on and not of the other specification."""
    others = sum(dimension is None for dimension in calibration_split().train["dimension"].to_pylist())
    return record.trained_on.counts["corpus"] - others


def test_several_methods_have_a_folder_each_and_share_the_runs_before(made: Path) -> None:
    assert is_run(made / "before" / "group_perplexity")
    assert {path.name for path in made.iterdir()} == {
        "before", "ctda", "lmd", "neutral.txt", "report.html", "split", "test-set.parquet",
    }  # fmt: skip
    expected = {"model.safetensors", "config.json", "tokenizer.json", "README.md", "mitigation.json", "measured"}
    for name in ("lmd", "ctda"):
        files = {path.name for path in (made / name).iterdir()}
        assert files >= expected
        assert not any(file.startswith(".") for file in files)
        assert is_run(made / name / "measured" / "after" / "group_perplexity")


def test_the_page_has_a_row_for_each_method_and_names_the_aim(made: Path) -> None:
    records = [read_mitigation(made / name) for name in ("lmd", "ctda")]
    gains, *_ = mitigation_report(records, find_sets((made,))).chapters
    table = next(table for table in gains.sections[0].tables if table.name == "gains-models")
    assert [row[0] for row in table.rows] == ["Before", "lmd", "ctda"]
    place = [column.heading for column in table.columns].index("Perplexity of validation texts")
    found = [records[0].perplexity_before, *(record.point.perplexity for record in records)]
    assert [row[place] for row in table.rows] == pytest.approx(found)
    page = (made / "report.html").read_text("utf-8")
    assert "Aimed at: Invented groups with planted odds of negative attributes" in page
    assert "95% point if the groups do not differ: 2.64 (F distribution)" in page


def test_the_record_has_everything_that_the_weights_depend_on(made: Path) -> None:
    record = read_mitigation(made / "ctda")
    specification = shipped_specifications(GOSSIP)[0]
    sentences = pq.read_table(made / "split" / "train.parquet")["sentence"].to_pylist()
    mentions = sum(1 for text in sentences for _ in target_finder(specification).find(text))
    assert read_mitigation(made / "lmd").point.counts == {"compared": mentions}
    assert record.point.counts == {}
    assert (record.method, record.control, record.chosen, record.grid) == ("ctda", None, 0, None)
    assert record.base_model.name == "embedded-gossip"
    assert record.specification is not None
    assert record.specification.groups == ("blicket", "stad", "mell", "fitch")
    assert record.specification.held_out == ("dorrin", "quav")
    assert record.point.settings.steps == 4
    assert [one.step for one in record.point.validations] == [0, 2, 4]
    assert record.point.validations[0].perplexity == pytest.approx(record.perplexity_before, rel=1e-3)
    assert record.trained_on.counts["added"] == 3 * sentences_about_groups(record)
    assert json.loads((made / "ctda" / "mitigation.json").read_bytes())["control"] is None
    assert {"torch", "transformers", "accelerate"} <= set(record.versions)


def test_the_first_token_is_that_of_training_and_of_every_measurement(made: Path, tmp_path: Path) -> None:
    own = read_mitigation(made / "lmd").given["first_token"]
    assert own.startswith("counted, given the token")
    assert read_run(made / "before" / "group_perplexity").result.signature.scoring["first_token"] == own
    out = tmp_path / "none"
    mitigate("lmd", *QUICK, "--first-token", "none", "--out", out)
    record, left_out = read_mitigation(out), "not counted: left out with --first-token"
    assert record.given["first_token"] == left_out
    runs = [path for path in (out / "measured").glob("*/*") if is_run(path)]
    assert {path.name for path in runs} == {"group_perplexity", "retention"}
    assert {read_run(path).result.signature.scoring["first_token"] for path in runs} == {left_out}
    assert record.perplexity_before != pytest.approx(read_mitigation(made / "lmd").perplexity_before)
    assert "given differ" in refusal("lmd", *QUICK, "--out", out)
    with pytest.raises(MitigationError, match="is a run with another first token"):
        refuse_other_run(Measuring(), made / "before", record.base_model.weights_sha256, left_out)
    assert "has no token '<none>'" in refusal("lmd", "--first-token", "<none>", "--out", tmp_path / "new")
    said = refusal("self_chat", "--first-token", "none", "--out", tmp_path / "new")
    assert said.startswith("--first-token is for lmd, add, ctda and cada")


def test_the_measured_model_is_the_one_in_the_folder_and_differs_from_the_base(made: Path) -> None:
    """The card has the figures of the runs, and what they do not say."""
    before = read_run(made / "before" / "group_perplexity").result.signature
    after = read_run(made / "lmd" / "measured" / "after" / "group_perplexity").result.signature
    assert before.model.weights_sha256 == read_mitigation(made / "lmd").base_model.weights_sha256
    assert after.model.weights_sha256 != before.model.weights_sha256
    assert before.release.digest == after.release.digest
    base = load_file(SHIPPED[GOSSIP].folder / "model.safetensors")
    assert load_file(made / "lmd" / "model.safetensors").keys() == base.keys()
    card = (made / "lmd" / "README.md").read_text("utf-8")
    assert card.startswith('---\nbase_model: "embedded-gossip"\n')
    assert "| group_perplexity | f gossip.calibration-many, log |" in card
    assert "They do not say that the model is fair" in card


def test_the_same_command_again_trains_and_measures_nothing(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "train", fail)
    times = {path: path.stat().st_mtime_ns for path in made.rglob("*.parquet")}
    said = mitigate("lmd,ctda", *QUICK, "--out", made)
    assert f"{made / 'lmd'} has this model already" in said.stderr
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*.parquet")} == times


def test_another_setting_is_refused_before_anything_is_trained_unless_overwritten(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made / "lmd", copy)
    arguments = ("lmd", *QUICK, "--seed", 1, "--out", copy, "--no-measure")
    expected = f"{copy} holds another mitigation (planned differ): name another folder with --out"
    assert refusal(*arguments).startswith(expected)
    mitigate(*arguments, "--overwrite")
    assert read_mitigation(copy).point.settings.seed == 1
    assert not (copy / "measured").exists()


def test_runs_before_of_another_model_or_other_sentences_are_not_compared_with(made: Path, tmp_path: Path) -> None:
    before, loaded, display = made / "before", load_kind(GOSSIP, "causal", "cpu"), Display(Console(quiet=True))
    with pytest.raises(MitigationError, match=r"group_perplexity is a run of another model: name another folder"):
        refuse_other_run(Measuring(), before, "0" * 64)
    refuse_other_run(Measuring(), before, loaded.identity.weights_sha256)
    lessons = CorpusLessons(Given(GOSSIP, None, {"hold_out": ("fitch",)}, (), display), loaded)
    with pytest.raises(MitigationError, match=r"test-set.parquet has other sentences: name another folder"):
        lessons.measuring(Measuring(), made, overwrite=False)


def test_a_grid_keeps_the_point_with_the_smallest_f_that_costs_little(tmp_path: Path) -> None:
    grid = tmp_path / "own.yaml"
    grid.write_text("id: own\nlearning_rate: [0.0001, 0.003, 1.0e+30]\nsource: by hand\n", "utf-8")
    out = tmp_path / "out"
    quick = ("--steps", 4, "--batch", 4, "--patience", 0, "--optimizer", "sgd", "--device", "cpu", "--no-measure")
    said = mitigate("ctda", *quick, "--grid", grid, "--out", out)
    assert "Point 2 of 3 of the grid: learning rate 0.003" in said.stderr
    record = read_mitigation(out)
    assert record.grid == "own"
    assert [one.perplexity is None for one in record.points] == [False, False, True]
    assert str(record.points[2].failed).startswith("the ")
    assert record.perplexity_before is not None
    within = [
        (point.f, i)
        for i, point in enumerate(record.points)
        if point.perplexity is not None and point.perplexity <= 1.05 * record.perplexity_before
    ]
    assert record.chosen == min(within)[1]
    page = (out / "report.html").read_text("utf-8")
    assert "Every point of the grid" in page
    assert str(record.points[2].failed) in page


def test_held_out_groups_are_not_trained_on_and_are_measured_beside_further_measures(
    tmp_path: Path, mini_release_folder: Path
) -> None:
    out = tmp_path / "out"
    mitigate("ctda", *QUICK, "--out", out, "--hold-out", "fitch", "--groups", "blicket,mell",
             "--release", mini_release_folder, "--measure", "likelihood_bias")  # fmt: skip
    for moment in ("before", "after"):
        runs = {path.name for path in (out / "measured" / moment).iterdir()}
        assert runs == {"group_perplexity", "likelihood_bias", "retention"}
    record = read_mitigation(out)
    assert record.specification is not None
    assert record.specification.groups == ("blicket", "mell")
    assert record.specification.held_out == ("stad", "fitch", "dorrin", "quav")
    counts = record.trained_on.counts
    assert counts["left_out"] > sentences_about_groups(record) * 0.9
    assert counts["added"] == sentences_about_groups(record)
    rows = pq.read_table(out / "measured" / "after" / "group_perplexity" / "scores.parquet")
    groups: dict[str, set[str]] = {}
    for row in rows.to_pylist():
        groups.setdefault(row["dimension"], set()).add(row["group"])
    assert groups["gossip.calibration-many"] == {"blicket", "mell"}
    everybody = {"blicket", "stad", "mell", "fitch", "dorrin", "quav"}
    assert groups["gossip.calibration-many with held-out groups"] == everybody
    assert len(groups["gossip.calibration-many-untouched"]) == 3


def test_a_table_of_examples_is_split_and_the_split_kept(tmp_path: Path) -> None:
    examples = tmp_path / "examples.parquet"
    pq.write_table(calibration_corpus(), examples)
    out = tmp_path / "out"
    said = mitigate("cada", *QUICK, "--corpus", examples, "--out", out)
    assert "examples.parquet is split into" in said.stderr
    split = out / "measured" / "split"
    assert json.loads((split / "split.json").read_bytes())["specification"] == "gossip.calibration-many"
    again = mitigate("cada", *QUICK, "--corpus", split, "--out", tmp_path / "again", "--no-measure")
    assert again.exit_code == 0
    assert (tmp_path / "again/model.safetensors").read_bytes() == (out / "model.safetensors").read_bytes()


def test_an_interrupted_training_says_how_to_continue_and_does(
    made: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    def interrupt(self: Any, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop._Steps, "on_step_begin", interrupt, raising=False)
        code = main(["mitigate", "lmd", *map(str, QUICK), "--out", str(out), "--no-measure"])
    part = tmp_path / ".out.part"
    kept = f"interrupted; finished work is kept in {part}; run the same command again to continue"
    assert code == 130
    assert kept in capsys.readouterr().err
    assert not out.exists()
    assert list(part.rglob("checkpoint-2"))
    mitigate("lmd", *QUICK, "--out", out, "--no-measure")
    assert not part.exists()
    assert (out / "model.safetensors").read_bytes() == (made / "lmd/model.safetensors").read_bytes()


def test_a_full_disk_at_a_checkpoint_is_one_line_and_other_settings_start_again(
    tmp_path: Path, monkeypatch: Any
) -> None:
    out = tmp_path / "out"

    def full(self: Any, *_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(loop.Loop, "_save_optimizer_and_scheduler", full)
        error = mitigate("lmd", *QUICK, "--out", out, "--no-measure", fails=True).exception
    part = tmp_path / ".out.part"
    expected = f"cannot write {out}: No space left on device; finished work is kept in {part}; run the same command"
    assert str(error).startswith(expected)
    assert not out.exists()
    assert list(part.glob(".training"))
    said = mitigate("lmd", *QUICK, "--seed", 5, "--out", out, "--no-measure")
    assert f"{part} has an interrupted training with other settings: starting again" in said.stderr


MANY = "gossip.calibration-many"
HOLD_OUT = tuple(word for name in ("blicket", "stad", "mell") for word in ("--hold-out", name))
MISTAKES = [
    (("nothing",), "there is no method 'nothing'; available: lmd, add, ctda, cada"),
    (("lmd", "--groups", "blicket"), f"{MANY}: mitigation compares two groups or more; only blicket takes part"),
    (("lmd", "--groups", "blicket,wug"), f"--groups: {MANY} has no group 'wug'; it has blicket, stad"),
    (("lmd", "--groups", "blicket,quav"), "--groups: quav is held out"),
    (("lmd", "--hold-out", "wug"), f"--hold-out: {MANY} has no group"),
    (("lmd", *HOLD_OUT), "only fitch takes part in the training"),
    (("lmd", "--model", "http://localhost:8000/v1"), "/v1 is behind a server: training needs the weights"),
    (("lmd", "--specification", "calibration"), "name sentences about "),
    (("lmd", "--grid", "nothing"), "there is no grid 'nothing'"),
    (("lmd", "--measure", "likelihood_bias"), "--measure is for runs without --no-measure: here it has no effect"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes_are_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in refusal(*arguments, "--out", tmp_path / "out", "--no-measure")
    assert list(tmp_path.iterdir()) == []


def test_corpora_and_measures_that_do_not_fit_are_one_line(made: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    assert refusal("lmd", "--measure", "nothing", *out).startswith("there is no measure 'nothing'")
    message = refusal("lmd", "--corpus", made / "split", "--specification", "calibration-many-untouched", *out)
    assert message.endswith(f"has sentences of {MANY}, none of {MANY}-untouched")
    corpus = tmp_path / "corpus.csv"
    corpus.write_text(f"dimension,group,text\n{MANY},blicket,the weather is good\n", "utf-8")
    assert "no example can be rewritten for every group" in refusal("lmd", "--corpus", corpus, *out)


@pytest.mark.parametrize("name", ["missing.txt", "empty.txt", "binary.txt", "multiwoz:nothing"])
def test_text_to_retain_that_cannot_be_read_is_refused_before_anything_is_trained(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.txt").write_bytes(b"\n")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    given = name if ":" in name else tmp_path / name
    assert name.rpartition(":")[2] in refusal("lmd", *QUICK, "--retain", given, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_models_that_cannot_be_trained_are_one_line(tmp_path: Path) -> None:
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"GGUF" + b"\0" * 64)
    t5, bytes_of_text = tmp_path / "t5", tmp_path / "bytes"
    for folder, kind, tokenizer in ((t5, "t5", tiny_tokenizer()), (bytes_of_text, "gpt2", ByT5Tokenizer())):
        tiny_model(kind).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    for model, message in (
        (gguf, f"{gguf} is a GGUF file, whose quantized weights cannot be trained: give the original"),
        (t5, f"{t5} is a seq2seq model: mitigation trains causal models"),
        (bytes_of_text, "ByT5Tokenizer does not say which characters a token covers"),
    ):
        assert refusal("lmd", "--model", model, "--out", tmp_path / "out").startswith(message)
    assert {path.name for path in tmp_path.iterdir()} == {"model.gguf", "t5", "bytes"}


def test_a_kill_after_the_record_is_written_loses_nothing(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"

    def interrupt(path: Path | str, **_: Any) -> None:
        if Path(path).name == ".training":
            for name in ("model", "point-000.json"):
                made_there = Path(path) / name
                remove(made_there) if made_there.is_dir() else made_there.unlink()
            raise KeyboardInterrupt
        remove(path, ignore_errors=True)

    remove = shutil.rmtree
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", interrupt)
        mitigate("lmd", *QUICK, "--out", out, "--no-measure", fails=True)
    assert (tmp_path / ".out.part" / "mitigation.json").is_file()

    monkeypatch.setattr(search, "train", fail)
    mitigate("lmd", *QUICK, "--out", out, "--no-measure")
    assert (out / "model.safetensors").read_bytes() == (made / "lmd/model.safetensors").read_bytes()


def test_terms_that_the_tokenizer_cannot_write_are_named(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from holisticbias_eval.mitigation.corpus import unknown_terms

    words = Tokenizer(models.WordLevel({"<unk>": 0, "the": 1, "blickets": 2}, unk_token="<unk>"))  # noqa: S106 - a token
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")  # noqa: S106 - a token
    found = unknown_terms(shipped_specifications(GOSSIP)[0], tokenizer)
    assert "blickets" not in found
    assert "stads" in found
    assert unknown_terms(shipped_specifications(GOSSIP)[0], tiny_tokenizer()) == ()
