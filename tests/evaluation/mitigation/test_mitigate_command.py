"""``holisticbias mitigate`` on the calibration model: what goes, folders, grids, interruptions and mistakes."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from safetensors.numpy import load_file
from scipy.stats import f as f_distribution
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from holisticbias.cli import main
from holisticbias_eval.commands.mitigate import command
from holisticbias_eval.corpus.calibration import MANY, UNTOUCHED, calibration_corpus
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.corpus.split_folder import read_part
from holisticbias_eval.errors import EvaluationError, MitigationError
from holisticbias_eval.figures import Figure
from holisticbias_eval.mitigation import loop, responses, run, search
from holisticbias_eval.mitigation.corpus import CorpusLessons, unknown_terms
from holisticbias_eval.mitigation.measuring import Measuring, refuse_other_run, with_neutral_text
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.page import mitigation_report
from holisticbias_eval.mitigation.record import read_mitigation
from holisticbias_eval.mitigation.validation import perplexity_of
from holisticbias_eval.models.embedded import GOSSIP, RESPONDER, SHIPPED
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.models.loading.load import load_kind
from holisticbias_eval.progress import Display
from holisticbias_eval.results.run import is_run, read_run
from holisticbias_eval.results.run_sets import find_sets
from holisticbias_eval.tasks.task import Given
from known import known
from quiet import QUIET
from tiny_models import as_loaded, saved, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.long
QUICK = ("--steps", 4, "--batch", 4, "--learning-rate", 1e-3, "--evaluations", 2, "--device", "cpu")
ONLY = (*QUICK, "--no-measure")
WITH_HELD_OUT = f"{MANY} with held-out groups"
SPECIFICATION = shipped_specifications(GOSSIP)[0]


def mitigate(*arguments: Any, fails: bool = False) -> Result:
    result = CliRunner().invoke(command, [str(argument) for argument in arguments])
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
    """LMD, which takes half an epoch to find equal terms, and CADA, measured."""
    out = tmp_path_factory.mktemp("mitigate") / "out"
    said = mitigate("lmd,cada", "--steps", 120, "--out", out, "--device", "cpu")
    assert f"Model: {out / 'lmd'}\nModel: {out / 'cada'}\nReport: {out / 'report.html'}\n" in said.stdout
    return out


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 48 biased sentences about the groups."""
    path, corpus = tmp_path_factory.mktemp("corpus") / "examples.parquet", calibration_corpus()
    biased = corpus.filter(pc.equal(corpus["label"], 1))
    groups = [
        biased.filter(pc.equal(biased["group"], name)).slice(0, 12) for name in ("blicket", "stad", "mell", "fitch")
    ]
    pq.write_table(pa.concat_tables(groups), path)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Path:
    """LMD with a quick training on few sentences, not measured."""
    out = tmp_path_factory.mktemp("whole") / "out"
    said = mitigate("lmd", *ONLY, "--examples", small, "--out", out)
    assert "examples.parquet is split into 40 training, 24 validation and 24 test sentences" in said.stderr
    return out


def figures(folder: Path, name: str) -> Mapping[str, Figure]:
    """A figure of log-perplexities, by dimension."""
    wanted = (name, "log", "unpaired")
    return {
        figure.keys["dimension"]: figure
        for figure in read_run(folder / "group_perplexity").result.figures
        if (figure.name, figure.keys.get("scale"), figure.keys.get("test", "unpaired")) == wanted
    }


def value(figure: Figure) -> float:
    return float(known(figure.value))


def check_closed_loop(method: str, before: Path, out: Path) -> None:
    """A method takes most of what is planted away, and leaves the rest.

    F and mean |t| halve, and F of LMD and CTDA is below its 95% point under the null; so is F of LMD over all groups,
    held-out groups too. F of the untouched specification is within the interval that it had before.
    Validation sentences, and the neutral lines, which no training text has, become at most 5% less likely.
    """
    after = out / "measured" / "after"
    for name in ("f", "mean_abs_t"):
        first, second = figures(before, name), figures(after, name)
        assert value(second[MANY]) < value(first[MANY]) / 2
    first, second = figures(before, "f"), figures(after, "f")
    assert value(first[MANY]) > 20
    if method in ("lmd", "ctda"):
        assert value(second[MANY]) < f_distribution.ppf(0.95, 3, 236)
    if method == "lmd":
        assert value(second[WITH_HELD_OUT]) < f_distribution.ppf(0.95, 5, 354)
    assert second[WITH_HELD_OUT].n == first[WITH_HELD_OUT].n
    interval = known(first[UNTOUCHED].interval)
    assert interval.low < value(second[UNTOUCHED]) < interval.high
    record = read_mitigation(out)
    assert known(record.point.perplexity) < 1.05 * known(record.perplexity_before)
    retained = [
        next(f for f in read_run(folder / "retention").result.figures if f.name == "perplexity")
        for folder in (before, after)
    ]
    assert value(retained[1]) < 1.05 * value(retained[0])


def test_the_closed_loop(made: Path) -> None:
    check_closed_loop("lmd", made / "before", made / "lmd")


@pytest.mark.nightly
@pytest.mark.parametrize("method", ["lmd", "add", "ctda", "cada"])
def test_the_closed_loop_of_whole_trainings(method: str, tmp_path: Path) -> None:
    mitigate(method, "--out", tmp_path / "out", "--device", "cpu")
    check_closed_loop(method, tmp_path / "out" / "measured" / "before", tmp_path / "out")


def test_several_methods_have_a_folder_each_and_share_the_runs_before(made: Path) -> None:
    """The card has the figures of the runs, and what they do not say."""
    assert {path.name for path in made.iterdir()} == {
        "before", "cada", "lmd", "neutral.txt", "report.html", "split", "test-set.parquet",
    }  # fmt: skip
    expected = {"model.safetensors", "config.json", "tokenizer.json", "README.md", "mitigation.json", "measured"}
    for name in ("lmd", "cada"):
        files = {path.name for path in (made / name).iterdir()}
        assert files >= expected
        assert not any(file.startswith(".") for file in files)
    before = read_run(made / "before" / "group_perplexity").result.signature
    after = read_run(made / "lmd" / "measured" / "after" / "group_perplexity").result.signature
    assert before.model.weights_sha256 == read_mitigation(made / "lmd").base_model.weights_sha256
    assert after.model.weights_sha256 != before.model.weights_sha256
    assert before.release.digest == after.release.digest
    base = load_file(SHIPPED[GOSSIP].folder / "model.safetensors")
    assert load_file(made / "lmd" / "model.safetensors").keys() == base.keys()
    card = (made / "lmd" / "README.md").read_text("utf-8")
    assert card.startswith('---\nbase_model: "embedded-gossip"\n')
    assert "groups in the training blicket, stad, mell, fitch; held out dorrin, quav.\n" in card
    assert "| Perplexity by group | F over groups: gossip.calibration-many, log |" in card
    assert (
        "\n\n## Validation\n\n| | before | after |\n| --- | --- | --- |\n| F of log-perplexities over groups |" in card
    )
    assert "They do not say that the model is fair" in card
    assert "more figures" not in card


def test_the_page_has_a_row_for_each_method_and_names_the_aim(made: Path) -> None:
    records = [read_mitigation(made / name) for name in ("lmd", "cada")]
    report = mitigation_report(records, find_sets((made,)))
    assert report.title == "embedded-gossip before and after LMD and CADA"
    gains, *_ = report.chapters
    table = next(table for table in gains.sections[0].tables if table.name == "gains-models")
    assert [row[0] for row in table.rows] == ["Before", "lmd", "cada"]
    place = [column.heading for column in table.columns].index("Perplexity of validation texts")
    perplexities = [records[0].perplexity_before, *(record.point.perplexity for record in records)]
    assert [row[place] for row in table.rows] == pytest.approx(perplexities)
    page = (made / "report.html").read_text("utf-8")
    assert "Aimed at: Invented groups with planted odds of negative attributes" in page
    assert "95th percentile if the groups do not differ: 2.64 (F distribution)" in page


def test_the_record_has_everything_that_the_weights_depend_on(made: Path) -> None:
    record = read_mitigation(made / "cada")
    train = pq.read_table(made / "split" / "train.parquet")
    mentions = sum(1 for text in train["sentence"].to_pylist() for _ in target_finder(SPECIFICATION).find(text))
    assert read_mitigation(made / "lmd").point.counts == {"compared": mentions}
    assert record.point.counts == {}
    assert (record.method, record.control, record.chosen, record.grid) == ("cada", None, 0, None)
    assert record.base_model.name == "embedded-gossip"
    assert known(record.specification).groups == ("blicket", "stad", "mell", "fitch")
    assert known(record.specification).held_out == ("dorrin", "quav")
    assert (record.point.settings.steps, record.point.settings.learning_rate) == (120, 2e-4)
    assert [validation.step for validation in record.point.validations] == [0, 60, 120]
    assert record.point.validations[0].perplexity == pytest.approx(record.perplexity_before, rel=1e-3)
    assert record.trained_on.counts["added"] == len(train) - train["dimension"].null_count
    assert json.loads((made / "cada" / "mitigation.json").read_bytes())["control"] is None
    assert {"torch", "transformers", "accelerate"} <= set(record.versions)


def test_the_same_command_again_trains_and_measures_nothing(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "train", fail)
    times = {path: path.stat().st_mtime_ns for path in made.rglob("*.parquet")}
    said = mitigate("lmd,cada", "--steps", 120, "--out", made, "--device", "cpu")
    assert f"{made / 'lmd'} has this model already" in said.stderr
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*.parquet")} == times


def test_runs_before_of_another_model_token_or_other_sentences_are_not_compared_with(made: Path) -> None:
    before, loaded = made / "before", load_kind(GOSSIP, "causal", "cpu")
    own = read_mitigation(made / "lmd").given["first_token"]
    assert own.startswith("counted, given the token")
    assert read_run(before / "group_perplexity").result.signature.scoring["first_token"] == own
    with pytest.raises(MitigationError, match=r"group_perplexity is a run of another model: name another folder"):
        refuse_other_run(Measuring(), before, "0" * 64)
    with pytest.raises(MitigationError, match="is a run with another first token"):
        refuse_other_run(Measuring(), before, loaded.identity.weights_sha256, "not counted")
    refuse_other_run(Measuring(), before, loaded.identity.weights_sha256, own)
    lessons = CorpusLessons(Given(GOSSIP, None, {"hold_out": ("fitch",)}, (), QUIET), loaded)
    with pytest.raises(MitigationError, match=r"test-set.parquet has other sentences: name another folder"):
        lessons.measuring(Measuring(), made, overwrite=False)


def test_groups_further_measures_and_the_first_token(small: Path, tmp_path: Path, mini_release_folder: Path) -> None:
    """Held-out groups are measured and not trained on; the first token is that of the training and of each run."""
    out, lines = tmp_path / "out", tmp_path / "lines.txt"
    lines.write_text("the miller painted the gate.\n", "utf-8")
    arguments = ("ctda", *QUICK, "--examples", small, "--out", out, "--hold-out", "fitch", "--groups", "blicket,mell",
                 "--release", mini_release_folder, "--measures", "likelihood_bias", "--first-token", "none",
                 "--retain", lines)  # fmt: skip
    mitigate(*arguments)
    record, left_out = read_mitigation(out), "not counted: left out with --first-token"
    assert known(record.specification).groups == ("blicket", "mell")
    assert known(record.specification).held_out == ("stad", "fitch", "dorrin", "quav")
    assert record.given["first_token"] == left_out
    train, validation = (
        pq.read_table(out / "measured" / "split" / f"{part}.parquet") for part in ("train", "validation")
    )
    trained = train["group"].to_pylist()
    kept = trained.count("blicket") + trained.count("mell")
    counts = {"corpus": kept, "left_out": trained.count("stad"), "added": kept, "not_rewritten": 0}
    assert record.trained_on.counts == counts
    texts = validation.filter(pc.is_in(validation["group"], value_set=pa.array(["blicket", "mell"])))
    loaded = load_kind(GOSSIP, "causal", "cpu")
    expected = perplexity_of(loaded.model, loaded.tokenizer, pa.table({"text": texts["sentence"]}), "none")
    assert record.perplexity_before == pytest.approx(expected)
    runs = sorted(path for path in (out / "measured").glob("*/*") if is_run(path))
    assert [path.name for path in runs] == 2 * ["group_perplexity", "retention", "sentences"]
    assert {read_run(path).result.signature.scoring["first_token"] for path in runs} == {left_out}
    groups: dict[str, set[str]] = {}
    for row in pq.read_table(out / "measured" / "after" / "group_perplexity" / "scores.parquet").to_pylist():
        groups.setdefault(row["dimension"], set()).add(row["group"])
    everybody = {"blicket", "stad", "mell", "fitch", "dorrin", "quav"}
    assert groups == {MANY: {"blicket", "mell"}, WITH_HELD_OUT: everybody}
    mitigate(*arguments, "--measures", "likelihood_bias,medians")
    assert len(read_run(out / "measured" / "after" / "sentences").result.signature.measures) == 2
    assert "options differ" in refusal(*arguments, "--first-token", "auto")
    assert "has no token '<none>'" in refusal("lmd", "--first-token", "<none>", "--out", tmp_path / "new")
    said = refusal("self_chat", "--first-token", "none", "--out", tmp_path / "new")
    assert said.startswith("--first-token is for runs with --measures or --retain")
    mitigate(*arguments)
    lines.write_text("the miller painted the barn.\n", "utf-8")
    assert "retention is a run on the lines “lines.txt”, which differs from the lines" in refusal(*arguments)


def test_another_setting_is_refused_before_anything_is_trained_unless_overwritten(
    small: Path, whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    other = ("lmd", *ONLY, "--examples", small, "--lm-weight", 0.5, "--out", tmp_path / "copy")
    expected = f"{tmp_path / 'copy'} holds another mitigation (settings differ): name another folder with --out"
    assert refusal(*other).startswith(expected)
    mitigate(*other, "--overwrite")
    assert read_mitigation(tmp_path / "copy").point.settings.lm_weight == 0.5


def test_a_split_gives_the_model_of_its_table(small: Path, whole: Path, tmp_path: Path) -> None:
    split, out = tmp_path / "split", tmp_path / "folder"
    arguments = ["split", small, "--specification", MANY, "--out", split]
    assert main(["corpus", *map(str, arguments)]) == 0
    mitigate("lmd", *ONLY, "--examples", split, "--out", out)
    assert (out / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    message = refusal("lmd", "--examples", split, "--specification", UNTOUCHED, "--out", tmp_path / "other")
    assert message.endswith(f"has sentences of {MANY}, none of {UNTOUCHED}")


def test_a_grid_keeps_the_point_with_the_smallest_f_that_costs_little(small: Path, tmp_path: Path) -> None:
    grid, out = tmp_path / "own.yaml", tmp_path / "out"
    grid.write_text("id: own\nlearning_rate: [0.0001, 0.003, 1.0e+30]\nsource: by hand\n", "utf-8")
    quick = ("--steps", 4, "--batch", 4, "--patience", 0, "--optimizer", "sgd", "--device", "cpu", "--no-measure")
    said = mitigate("ctda", *quick, "--examples", small, "--grid", grid, "--out", out)
    assert "Point 2 of 3 of the grid: learning rate 0.003" in said.stderr
    record = read_mitigation(out)
    assert record.grid == "own"
    assert [point.perplexity is None for point in record.points] == [False, False, True]
    assert str(record.points[2].failed).startswith("the ")
    most = 1.05 * known(record.perplexity_before)
    within = [(point.f, i) for i, point in enumerate(record.points) if point.perplexity and point.perplexity <= most]
    assert record.chosen == min(within)[1]
    page = (out / "report.html").read_text("utf-8")
    assert ": every point" in page
    assert str(record.points[2].failed) in page
    (marked,) = (row for row in page.split("<tr") if ">chosen</td>" in row)
    assert f"<bdi>{record.chosen + 1}</bdi></th>" in marked


def test_the_help_has_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mitigate", "--help"]) == 0
    _, _, methods = capsys.readouterr().out.partition("Methods, from")
    assert [line.split()[0] for line in methods.splitlines()[1:]] == [*METHODS]


def test_an_interrupted_training_says_how_to_continue_and_does(
    small: Path, whole: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    out, part = tmp_path / "out", tmp_path / ".out.part"
    arguments = ["lmd", *map(str, ONLY), "--examples", str(small), "--out", str(out)]

    def interrupt(self: Any, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop._Steps, "on_step_begin", interrupt, raising=False)
        code = main(["mitigate", *arguments])
    kept = f"interrupted; finished work is kept in {part}; run the same command again to continue"
    assert code == 130
    assert kept in capsys.readouterr().err
    assert not out.exists()
    assert list(part.rglob("checkpoint-2"))
    damaged = part / ".training" / "point-000.json"
    damaged.write_text("{")
    assert main(["mitigate", *arguments]) == 2
    assert f"{damaged} is damaged or of another version" in " ".join(capsys.readouterr().err.split())
    damaged.unlink()
    mitigate(*arguments)
    assert not part.exists()
    assert (out / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert read_mitigation(out).points == read_mitigation(whole).points


def test_a_training_that_breaks_off_after_a_checkpoint_names_its_folder(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 3:
            raise MitigationError("out of memory")

    monkeypatch.setattr(loop._Steps, "on_step_begin", fail, raising=False)
    said = refusal("lmd", *ONLY, "--examples", small, "--out", tmp_path / "out")
    assert said.rstrip() == f"out of memory; finished work is kept in {tmp_path / '.out.part'}"
    assert list(tmp_path.glob(".out.part/*/*/checkpoint-2"))


def test_an_interruption_after_the_training_says_that_it_is_kept(
    small: Path, whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "write_report", interrupt)
    assert main(["mitigate", "lmd", *map(str, ONLY), "--examples", str(small), "--out", str(whole)]) == 130
    kept = "interrupted; finished work is kept; run the same command again to continue"
    assert kept in capsys.readouterr().err
    monkeypatch.setattr(run, "load_trainable", interrupt)
    assert main(["mitigate", "lmd", *map(str, ONLY), "--examples", str(small), "--out", f"{whole}-other"]) == 130
    assert "interrupted; no partial output remains" in capsys.readouterr().err


def test_a_full_disk_at_a_checkpoint_is_one_line_and_other_settings_start_again(
    small: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    out, part = tmp_path / "out", tmp_path / ".out.part"

    def full(self: Any, *_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(loop.Loop, "_save_optimizer_and_scheduler", full)
        error = mitigate("lmd", *ONLY, "--examples", small, "--out", out, fails=True).exception
    expected = f"cannot write {out}: No space left on device; finished work is kept in {part}; run the same command"
    assert str(error).startswith(expected)
    assert not out.exists()
    assert list(part.glob(".training"))
    said = mitigate("lmd", *ONLY, "--examples", small, "--seed", 5, "--out", out)
    assert f"{part} has an interrupted training with other settings: starting again" in said.stderr


def test_a_kill_after_the_record_is_written_loses_nothing(
    small: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, remove = tmp_path / "out", shutil.rmtree

    def interrupt(path: Path | str, **_: Any) -> None:
        if Path(path).name == ".training":
            for name in ("model", "point-000.json"):
                made_there = Path(path) / name
                remove(made_there) if made_there.is_dir() else made_there.unlink()
            raise KeyboardInterrupt
        remove(path, ignore_errors=True)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", interrupt)
        mitigate("lmd", *ONLY, "--examples", small, "--out", out, fails=True)
    assert (tmp_path / ".out.part" / "mitigation.json").is_file()
    monkeypatch.setattr(search, "train", fail)
    mitigate("lmd", *ONLY, "--examples", small, "--out", out)
    assert (out / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_the_sentences_to_measure_are_never_those_of_an_earlier_split(tmp_path: Path) -> None:
    pq.write_table(calibration_corpus(), tmp_path / "examples.parquet")
    loaded = load_kind(GOSSIP, "causal", "cpu")

    def lessons(seed: int) -> CorpusLessons:
        values = {"specification": MANY, "examples": tmp_path / "examples.parquet", "seed": seed}
        return CorpusLessons(Given(GOSSIP, None, values, (), QUIET), loaded)

    first, second = lessons(0), lessons(1)
    path = first.measuring(Measuring(), tmp_path, overwrite=False).values["test_set"]
    assert first.measuring(Measuring(), tmp_path, overwrite=False).values["test_set"] == path
    with pytest.raises(MitigationError, match="has other sentences: name another folder"):
        second.measuring(Measuring(), tmp_path, overwrite=False)
    second.measuring(Measuring(), tmp_path, overwrite=True)
    trained = {*second._train["sentence_id"].to_pylist()}
    assert trained.isdisjoint(pq.read_table(path)["sentence_id"].to_pylist())
    assert trained == {*read_part(tmp_path / "split", "train")["sentence_id"].to_pylist()}
    path.write_bytes(b"PAR1")
    with pytest.raises(MitigationError, match=r"cannot be read: .*; name another folder"):
        second.measuring(Measuring(), tmp_path, overwrite=False)


def test_models_that_cannot_be_trained_are_one_line(tmp_path: Path) -> None:
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"GGUF" + b"\0" * 64)
    t5, bytes_of_text = tmp_path / "t5", tmp_path / "bytes"
    for folder, kind, tokenizer in ((t5, "t5", tiny_tokenizer()), (bytes_of_text, "gpt2", ByT5Tokenizer())):
        saved(folder, tiny_model(kind), tokenizer)
    for model, message in (
        (gguf, f"{gguf} is a GGUF file, whose quantized weights cannot be trained: give the original"),
        (t5, f"{t5} is a seq2seq model: mitigation trains causal models"),
        (bytes_of_text, "ByT5Tokenizer does not say which characters a token covers"),
    ):
        assert refusal("lmd", "--model", model, "--out", tmp_path / "out").startswith(message)
    assert {path.name for path in tmp_path.iterdir()} == {"model.gguf", "t5", "bytes"}


def test_classifiers_that_do_not_fit_are_refused_before_the_training(card: Callable[..., Path], tmp_path: Path) -> None:
    judge = card(engine="chat", activation="none", model="judge-1", prompt="{text}")
    for classifier, message in (
        ("none", "there is no classifier 'none'"),
        (judge, "made-up asks a chat model: give its server's address with --classifier-api-base"),
        ("vader,calibration-styles", "--classifier: vader and calibration-styles are both for styles: name one"),
    ):
        given = ("--model", tmp_path / "missing", "--classifier", classifier, "--out", tmp_path / "out")
        assert refusal("self_chat", *given).startswith(message)


def test_responses_are_tagged_by_the_classifier_that_measures_their_styles(
    card: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it names an offensive label; a server is named to a chat model alone."""
    chat = {"engine": "chat", "activation": "none", "model": "judge-1", "prompt": "{text}", "offensive": "kind"}
    asked: list[Mapping[str, Any]] = []

    def prepare(model: str, release: str, measures: Sequence[str], values: Mapping[str, Any], display: Display) -> Any:
        asked.append(values)
        raise MitigationError("far enough")

    monkeypatch.setattr(responses, "prepare", prepare)
    server = {"classifier_api_base": "http://localhost"}
    for task, styles, base in (("style", "card", "http://localhost"), ("toxicity", "calibration-styles", None)):
        judge = str(card(**chat, task=task))
        names = (judge, "calibration-offensiveness" if task == "style" else "calibration-styles")
        given = Given(RESPONDER, None, {"classifier": names, **server}, (), QUIET)
        with pytest.raises(MitigationError, match="far enough"):
            responses.ResponseLessons(given, as_loaded(tiny_model("gpt2"), tiny_tokenizer())).lesson(
                METHODS["self_chat"]
            )
        assert asked[-1]["classifier"] == (judge if styles == "card" else styles,)
        assert asked[-1].get("classifier_api_base") == base


def test_a_group_without_sentences_is_named_and_a_tuned_rate_is_for_its_optimizer(small: Path, tmp_path: Path) -> None:
    path, table, shown = tmp_path / "few.parquet", pq.read_table(small), StringIO()
    pq.write_table(table.filter(pc.not_equal(table["group"], "fitch")), path)
    values = {"specification": MANY, "examples": path, "optimizer": "sgd"}
    given = Given(GOSSIP, None, values, (), Display(Console(file=shown, width=1000)))
    lessons = CorpusLessons(given, load_kind(GOSSIP, "causal", "cpu"))
    assert "no sentence about fitch can be rewritten for every group" in shown.getvalue()
    tuned = lessons.tuned(METHODS["cada"])
    assert (bool(tuned), "learning_rate" in tuned) == (True, False)


def test_a_grid_of_failures_says_why(small: Path, tmp_path: Path) -> None:
    grid, out = tmp_path / "own.yaml", tmp_path / "out"
    grid.write_text("id: own\nlearning_rate: [1.0e+30, 2.0e+30]\nsource: by hand\n", "utf-8")
    quick = ("--steps", 1, "--batch", 4, "--patience", 0, "--optimizer", "sgd", "--device", "cpu", "--no-measure")
    said = refusal("ctda", *quick, "--examples", small, "--grid", grid, "--out", out)
    assert said.startswith(
        "no point of the grid could be trained: the validation loss is not a finite number at step 1"
    )
    alone = refusal("ctda", *quick, "--examples", small, "--learning-rate", 1e30, "--out", out)
    assert alone.startswith("the validation loss is not a finite number at step 1: lower the learning rate (1e+30)")
    assert [*tmp_path.iterdir()] == [grid], "nothing that could be continued remains"


def test_a_text_that_is_named_is_measured_in_place_of_the_neutral_one(tmp_path: Path) -> None:
    named = Measuring(values={"retain": ("own.txt",)})
    assert with_neutral_text(named, ["A line."], tmp_path / "neutral.txt") is named


def test_terms_that_the_tokenizer_cannot_write_are_named() -> None:
    words = Tokenizer(models.WordLevel({"<unk>": 0, "the": 1, "blickets": 2}, unk_token="<unk>"))  # noqa: S106 - a token
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")  # noqa: S106 - a token
    unknown = unknown_terms(SPECIFICATION, tokenizer)
    assert "blickets" not in unknown
    assert "stads" in unknown
    assert unknown_terms(SPECIFICATION, tiny_tokenizer()) == ()
    for known_words, said in ((tokenizer, f"cannot write {len(unknown)} terms"), (tiny_tokenizer(), "")):
        shown = StringIO()
        loaded = as_loaded(tiny_model("gpt2"), known_words)
        CorpusLessons(Given(GOSSIP, None, {}, (), Display(Console(file=shown, width=1000))), loaded)
        named = f"of {MANY} ({', '.join(unknown[:5])}): what is measured for them says little"
        assert (f"{said} {named}" in shown.getvalue()) == bool(said)
        assert ("cannot write" in shown.getvalue()) == bool(said)
