"""The command: output, exit codes and files written, without tracebacks."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import TypeAlias, get_args
from unittest.mock import Mock

import click
import pytest

from holisticbias.commands import add, assess, export
from holisticbias.errors import HolisticBiasError
from holisticbias.questions.adding import KINDS
from holisticbias.release.export import FORMATS
from holisticbias.source.addresses import rule_link
from holisticbias.terms.entries import Article, Judgement, NounGender, Position
from invoking import Invoke
from processes import python

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

BAD = "tests/data/invalid/several.yaml"
COMMAND = [sys.executable, "-m", "holisticbias"]


def contents(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# validate


def test_validate_reports_everything_at_once_as_text(invoke: Invoke) -> None:
    code, out, err = invoke("validate", BAD)
    assert code == 1
    assert out.splitlines() == [
        f"{BAD}:8:15 error schema [example.kind] position: it must be 'before', 'after' or 'standalone'; "
        "the value is 'beside'. Fix: write the value as in the other entries of the file.",
        f"{BAD}:13:11 error ambiguous-scalar YAML 1.1 reads 'yes' as true or false. Fix: quote the value.",
        f"{BAD}:19:13 error unknown-key [example.kind-3] The key 'colour' is not in the schema. "
        "Fix: correct or remove the key.",
    ]
    pages = "".join(f"About {rule}: {rule_link(rule)}\n" for rule in ("schema", "ambiguous-scalar", "unknown-key"))
    assert err == f"3 errors.\n{pages}"


def test_validate_for_programs(invoke: Invoke) -> None:
    code, out, err = invoke("validate", "--format", "json", BAD)
    assert (code, err) == (1, "")
    found = json.loads(out)
    assert [(f["path"], f["line"], f["column"], f["level"], f["rule"]) for f in found[:2]] == [
        (BAD, 8, 15, "error", "schema"),
        (BAD, 13, 11, "error", "ambiguous-scalar"),
    ]
    assert (len(found), found[2]["entry"]) == (3, "example.kind-3")
    code, out, err = invoke("validate", "--format", "github", BAD)
    assert (code, err) == (1, "")
    assert out.splitlines()[2] == (
        f"::error file={BAD},line=19,col=13,title=unknown-key::[example.kind-3] "
        "The key 'colour' is not in the schema. Fix: correct or remove the key. See "
        "https://github.com/holisticbias/holisticbias/blob/main/docs/rules/unknown-key.md"
    )
    empty = ("tests/data/valid/nouns.yaml", "--format")
    assert [invoke("validate", *empty, style) for style in ("json", "github")] == [(0, "[]\n", ""), (0, "", "")]


def test_validate_a_file_by_the_rules_of_the_repository_it_lies_in(terms_copy: Path, invoke: Invoke) -> None:
    path = terms_copy / "descriptors" / "age.yaml"
    path.write_text(path.read_text("utf-8").replace("sources: [smith-2022]", "sources: [nobody-2020]", 1), "utf-8")
    code, out, _ = invoke("validate", path)
    assert (code, out.count("\n")) == (1, 2)
    assert "known-source" in out
    assert "published-changed" in out
    assert invoke("validate", terms_copy / "nouns")[0] == 0
    assert invoke("validate", terms_copy)[0] == 1


# build


def test_build_interrupted(tmp_path: Path, root: Path) -> None:
    """A kill is tested with the functions that write folders."""
    start = (  # nohup has the signal ignored
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); from holisticbias.__main__ import run; run()"
    )
    command = [sys.executable, "-c", start, "build", "--version", "1.0.0", "--out", str(tmp_path / "release")]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not contents(tmp_path) and process.poll() is None:  # until it begins to write
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.removeprefix("\n") == "holisticbias: interrupted; no partial output remains\n"
    assert contents(tmp_path) == set()


# show


def test_show_a_term_by_its_text_and_its_noun(shared_terms: Path, invoke: Invoke) -> None:
    source = ("--version", "1.0.0", "--source", shared_terms)
    lines = invoke.printed("show", "deaf", *source).splitlines()
    assert lines[2] == "  reviewed: accepted (smith-2022, en-US, 2022-12)"
    assert {"  without a noun: Deaf / Deaf", "    I'm Deaf."} <= set(lines)
    assert "    I love Deaf." not in lines
    after = invoke.printed("show", "WITH  A DISABILITY", *source)
    assert "  with the noun 'person': a person with a disability / people with disabilities\n" in after
    assert "without a noun" not in after, "it comes after the noun"
    for noun in ("noun.kid", "kid"):
        chosen = invoke.printed("show", "ability.deaf", "--noun", noun, *source)
        assert "  with the noun 'kid': a Deaf kid / Deaf kids\n" in chosen


# schema, help, version


def test_schema_check_and_write(invoke: Invoke, tmp_path: Path) -> None:
    folder = ("--out", tmp_path / "new")
    assert invoke("schema", *folder)[0] == 0
    # eleven kinds of source files, and the records of the evaluation
    assert len(contents(tmp_path / "new")) == 11 + len(entry_points(group="holisticbias.schemas"))
    (tmp_path / "new" / "nouns.schema.json").write_text("{}")
    (tmp_path / "new" / "templates.schema.json").write_bytes(b"\xff")
    (tmp_path / "new" / "descriptors.schema.json").unlink()
    code, out, _ = invoke("schema", "--check", *folder)
    assert (code, out.count("is out of date: run holisticbias schema\n")) == (1, 3)
    assert not (tmp_path / "new" / "descriptors.schema.json").exists()


@pytest.mark.parametrize(
    ("call", "packages"),
    [
        ("from holisticbias.cli import main; main(['build', '--version', '1.0.0', '--out', sys.argv[1]])", ["pandas"]),
        ("import holisticbias", ["numpy", "pyarrow", "pydantic"]),
        (
            "from holisticbias_eval import evaluate, measure",
            ["numpy", "pandas", "pyarrow", "pydantic", "rich", "torch", "transformers"],
        ),
        ("from holisticbias.cli import main; main(['--help'])", ["numpy", "pyarrow", "pydantic", "torch", "yaml"]),
    ],
)
def test_imports_only_what_it_needs(call: str, packages: list[str], tmp_path: Path) -> None:
    code = f"import sys; {call}; sys.exit(sorted(sys.modules.keys() & {set(packages)}) or 0)"
    done = python("-c", code, tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")


def test_choices_of_options_are_the_values_of_the_data() -> None:
    """Commands repeat these values, because an import of the records would make their help slow."""
    choices = {
        option.name: option.type.choices
        for command in (add.command, assess.command, export.command)
        for option in command.params
        if isinstance(option.type, click.Choice)
    }
    assert choices == {
        "kind": tuple(KINDS),
        "position": get_args(Position),
        "article": get_args(Article),
        "noun_gender": get_args(NounGender),
        "judgement": get_args(Judgement),
        "style": tuple(FORMATS),
    }


@pytest.mark.parametrize(
    ("given", "spins"),
    [({}, "8000"), ({"GOMP_SPINCOUNT": "9"}, "9"), ({"OMP_WAIT_POLICY": "active"}, None)],
)
def test_threads_that_wait_soon_leave_the_processor_to_other_programs(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], spins: str | None
) -> None:
    """Beside a busy process, a model whose threads wait actively takes longer."""
    code = "import atexit, os, sys; atexit.register(lambda: print(os.environ.get('GOMP_SPINCOUNT'))); "
    code += "from holisticbias.__main__ import run; sys.argv = ['holisticbias', '--version']; run()"
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    done = python("-c", code, environment=given)
    assert done.stdout.splitlines()[-1] == str(spins)


# terminals, pipes and other packages


def test_an_output_that_nobody_reads_or_that_is_full(root: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    full = b"holisticbias: input or output: No space left on device\n"
    for output, code, errors in ((writer, 141, b""), (os.open("/dev/full", os.O_WRONLY), 2, full)):
        done = subprocess.run([*COMMAND, "--help"], cwd=root, stdout=output, stderr=subprocess.PIPE, check=False)
        os.close(output)
        assert (done.returncode, done.stderr) == (code, errors)


@pytest.mark.parametrize("words", [["show", "unknown"], ["unknown"]])
def test_the_exit_code_of_an_error_that_nobody_reads(root: Path, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, *words], cwd=root, stdout=subprocess.PIPE, stderr=writer, check=False)
    os.close(writer)
    assert (done.returncode, done.stdout) == (2, b"")


def test_closed_input_and_output(root: Path) -> None:
    closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh", *COMMAND, "add"]
    done = subprocess.run(closed, cwd=root, capture_output=True, text=True, check=False)
    said = "\n\nError: --text is needed: standard input ended before an answer.\n"
    tried = "Try 'holisticbias add --help' for help."
    assert (done.returncode, done.stderr.partition("\n")[2]) == (2, tried + said)


def test_terminal_that_cannot_show_a_letter(run: Run) -> None:
    done = run("show", "\u014d\U0001f600", environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert done.stderr.startswith("holisticbias: version ")


def test_verb_whose_package_cannot_be_loaded_says_so(monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    broken = EntryPoint("measure-all", "no_such_package.commands:command", "holisticbias.commands")
    monkeypatch.setattr("holisticbias.cli.entry_points", lambda **wanted: EntryPoints([broken]).select(**wanted))
    code, out, _ = invoke("--help")
    assert (code, "measure-all  (cannot be loaded)" in out) == (0, True)
    code, out, err = invoke("measure-all", "--model", "x")
    assert (code, out) == (2, "")
    assert err == (
        "holisticbias: measure-all cannot be loaded from no_such_package.commands: No module named 'no_such_package'\n"
    )


@pytest.mark.parametrize(
    ("name", "place"),
    [("pairs", "stereotypes pairs"), ("split", "corpus split"), ("analyse", "judge analyse"), ("acute-eval", "judge")],
)
def test_a_command_without_its_group_is_told_where_it_is(invoke: Invoke, name: str, place: str) -> None:
    code, out, err = invoke(name, "make", "--out", "x")
    said = f"Error: No such command '{name}': it is `holisticbias {place}`\n"
    assert (code, out, err.partition("\n\n")[2]) == (2, "", said)


def test_a_name_that_is_not_utf8(invoke: Invoke) -> None:
    assert invoke("show", "caf\udce9") == (2, "", "holisticbias: caf\\udce9 is not UTF-8: rename the file\n")


def test_a_name_that_the_locale_cannot_hold(run: Run) -> None:
    given = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("show", "caf\u00e9", environment=given)
    said = "holisticbias: caf\\udcc3\\udca9 is not ascii, the encoding of the locale: set a UTF-8 one, LC_ALL=C.UTF-8\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize(("encoding", "is_said"), [("iso8859-1", True), ("utf-8", False)])
def test_a_name_that_the_locale_misreads(
    monkeypatch: pytest.MonkeyPatch, invoke: Invoke, encoding: str, is_said: bool
) -> None:
    """Arrow finds no such file: it reads names as UTF-8."""
    error = HolisticBiasError("\u00d0.parquet cannot be read: No such file or directory")
    monkeypatch.setattr("holisticbias.cli.holisticbias.main", Mock(side_effect=error))
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: encoding)
    said = f"; names are read as {encoding}, the encoding of the locale: set a UTF-8 one, LC_ALL=C.UTF-8"
    assert invoke("show", "x") == (2, "", f"holisticbias: {error}{said if is_said else ''}\n")


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    monkeypatch.setattr("holisticbias.rules.validate.validate_paths", Mock(side_effect=MemoryError))
    assert invoke.refused("validate") == "holisticbias: there is not enough memory for this input\n"


def test_intersections_are_counted_and_sentences_exported(two_versions: Path, tmp_path: Path, invoke: Invoke) -> None:
    terms = ("--version", "0.1.0", "--source", two_versions)
    said = invoke.printed("build", "--intersections", "all", "--count", *terms)
    assert said == "HolisticBias 0.1.0, intersections all: 14 pairs, 63 sentences\n"
    invoke.printed("build", "--out", tmp_path / "release", *terms)
    said = invoke.printed("export", tmp_path / "release", "--format", "csv", "--out", tmp_path / "sentences.csv")
    rows = len((tmp_path / "sentences.csv").read_text("utf-8").splitlines()) - 1
    assert said.split() == [f"{tmp_path}/sentences.csv:", f"{rows}", "sentences", "as", "csv"]


def test_an_issue_that_is_not_utf_8_is_refused(two_versions: Path, tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "issue.txt").write_bytes(b"### Term\n\ncaf\xe9\n")
    refused = invoke.refused("from-issue", tmp_path / "issue.txt", "--source", two_versions)
    assert refused == f"holisticbias: {tmp_path}/issue.txt is not UTF-8\n"
