import json
import sys
from pathlib import Path

import pytest

from holisticbias_eval.errors import EvaluationError, RetainError
from holisticbias_eval.evaluating import choose_measures
from holisticbias_eval.figures import Figures
from holisticbias_eval.results.run import read_run
from holisticbias_eval.tasks.lines import RetainSettings
from holisticbias_eval.tasks.retain_command import Reported, reported, run_retain_command, split_command
from invoking import Invoke
from known import known

HARNESS = {
    "results": {
        "arc": {"alias": "arc", "acc,none": 0.5, "acc_stderr,none": 0.05, "acc_norm,none": 0.6, "sample_len": 100},
        "gsm": {"exact_match,strict-match": 0.25, "exact_match_stderr,strict-match": "N/A"},
    },
    "n-samples": {"arc": {"original": 100, "effective": 80}},
    "config": {"batch_size": 8},
}


def python(code: str) -> str:
    return f'{sys.executable} -c "{code}" {{model}}'


def test_numbers_of_an_object() -> None:
    assert [*reported({"accuracy": 0.5, "name": "x", "is_final": True})] == [Reported("", "accuracy", 0.5)]
    assert [*reported({"acc": 0.5, "acc_stderr": 0.1})] == [Reported("", "acc", 0.5, 0.1)]
    two = reported({"a": {"f1": 1}, "b": {"f1": 0, "loss": float("nan")}})
    assert [*two] == [Reported("a", "f1", 1.0), Reported("b", "f1", 0.0)]
    assert [*reported(HARNESS)] == [
        Reported("arc", "acc", 0.5, 0.05, 80),
        Reported("arc", "acc_norm", 0.6, None, 80),
        Reported("gsm", "exact_match (strict-match)", 0.25),
    ]
    filtered = reported({"results": {"arc": {"acc": 0.5, "acc,none": 0.6}}})
    assert [*filtered] == [Reported("arc", "acc", 0.5), Reported("arc", "acc (none)", 0.6)]
    assert [*reported({"results": [], "": 1, ",none": 1, "long": 10**400})] == []


def test_the_last_line_is_read_and_no_shell_runs(tmp_path: Path) -> None:
    words = ["run", "--model", "{model}", "two words"]
    assert split_command("run --model '{model}' \"two words\"") == words
    target = tmp_path / "made"
    code = "import sys; print(sys.argv); print('{\\\"f1\\\": 0.5}'); print()"
    assert run_retain_command(python(code), f"; touch {target}") == (Reported("", "f1", 0.5),)
    assert not target.exists()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("place", ["sys.argv[2]", "sys.argv[2] + '/deep/results_1.json'"])
def test_a_file_or_folder_is_read(tmp_path: Path, place: str, encoding: str) -> None:
    script = tmp_path / "harness.py"
    script.write_text(
        "import sys, json, pathlib\n"
        f"path = pathlib.Path({place})\n"
        "path.parent.mkdir(parents=True, exist_ok=True)\n"
        f"path.write_text(json.dumps({HARNESS!r}), {encoding!r})\n"
        "print('done')\n",
        "utf-8",
    )
    found = run_retain_command(f"{sys.executable} {script} {{model}} {{out}}", "m")
    assert [one.task for one in found] == ["arc", "arc", "gsm"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (python("import sys; print('half'); print('no memory', file=sys.stderr); sys.exit(3)"), "code 3: no memory"),
        (python("import sys; sys.exit(4)"), "code 4: it printed nothing"),
        (python("print('fine')"), "reports no number"),
        (python("print('[1, 2]')"), "reports no number"),
        ("no-such-program {model}", "cannot be started"),
        ("echo hello", "does not name the model"),
        ("echo 'half {model}", "cannot be split"),
    ],
)
def test_commands_that_fail(command: str, message: str) -> None:
    with pytest.raises(RetainError, match=message) as found:
        run_retain_command(command, "m")
    assert "\n" not in str(found.value)


def test_options_are_read() -> None:
    found = RetainSettings(retain=("text.txt", "multiwoz:folder"))
    assert (found.text, found.dialogues) == (Path("text.txt"), Path("folder"))
    assert (RetainSettings().text, RetainSettings().dialogues) == (None, None)
    with pytest.raises(EvaluationError, match="one file"):
        _ = RetainSettings(retain=("a", "b")).text
    given = {"retain": ("text.txt", "multiwoz:folder"), "retain_command": "x {model}"}
    assert choose_measures(None, given) == ("retention", "dialogue_state", "retained")


def test_two_runs_of_a_command_are_compared(invoke: Invoke, tiny_gpt2: Path, tmp_path: Path) -> None:
    for name, accuracy in (("a", 0.8), ("b", 0.6)):
        numbers = {"f1": 0.5, "arc": {"acc": accuracy, "acc_stderr": 0.03, "perplexity": 10.0, "size": 5}}
        script = tmp_path / f"{name}.py"
        script.write_text(f"print({json.dumps(json.dumps(numbers))})", "utf-8")
        command = f"{sys.executable} {script} {{model}}"
        code, said, problem = invoke(
            "evaluate", "--model", tiny_gpt2, "--retain-command", command, "--out", tmp_path / name
        )
        assert (code, problem.count("rror")) == (0, 0)
        assert "reports 4 numbers" in said
    keys = {"task": "arc", "metric": "acc"}
    figures = Figures(read_run(tmp_path / "a").result.figures)
    assert list(invoke.figures("measure", "retained", tmp_path / "a" / "results.parquet")) == list(figures)
    found = known(figures.get("retained", "value", keys))
    assert known(found.interval).high == pytest.approx(0.8 + 1.96 * 0.03, abs=1e-4)
    changes = invoke.figures("compare", tmp_path / "a", tmp_path / "b")
    change = known(changes.get("retained", "change", keys))
    # z = 0.2 / sqrt(2 * 0.03^2) = 4.71
    assert change.value == pytest.approx(-0.2)
    assert [known(changes.get("retained", name, keys)).of for name in ("first", "second")] == ["value", "value"]
    assert known(change.p_value) < 1e-5
    for alike in ({"task": "arc", "metric": "perplexity"}, {"task": "-", "metric": "f1"}):
        assert changes.value("retained", "change", alike) == 0


def test_a_table_has_a_standard_error_of_each_number(invoke: Invoke, tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    table.write_text("task,metric,value,error,items\narc,acc,0.8,0.03,50\narc,f1,0.5,,\n")
    first, second = invoke.figures("measure", "retained", table)
    assert known(first.interval).high == pytest.approx(0.8 + 1.96 * 0.03, abs=1e-4)
    assert (first.n, second.n, second.interval) == (50, 1, None)
    table.write_text("task,metric,value,error\narc,acc,0.8,-0.03\n")
    said = invoke.refused("measure", "retained", table)
    assert "row 1: column error is -0.03: a standard error is 0 or more" in said
    table.write_text("task,metric,value\narc,acc,0.8\ngsm,acc,0.7\narc,acc,0.6\n")
    said = invoke.refused("measure", "retained", table)
    assert "row 3: task and metric are those of row 1: give every row its own" in said
