"""The command: output, exit codes and files written, without tracebacks."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeAlias

import pytest

from holisticbias import open_release
from holisticbias.cli import main
from holisticbias.release.release import Release
from holisticbias.source.addresses import rule_link
from holisticbias.source.folder import FOLDERS
from holisticbias.terms.catalog import Catalog
from invoking import Invoke

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

BAD = "tests/data/invalid/several.yaml"
COMMAND = [sys.executable, "-m", "holisticbias"]


def contents(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# validate


@pytest.mark.parametrize(
    "paths",
    [
        (),
        (".",),
        ("descriptors",),
        ("nouns", "templates"),
        ("descriptors/age.yaml",),
        ("sources.yaml",),
        ("tests/data/valid/nouns.yaml",),
        ("descriptors/age.yaml", "tests/data/valid/descriptors.yaml"),
    ],
)
def test_validate_clean(invoke: Invoke, paths: tuple[str, ...]) -> None:
    assert invoke("validate", *paths) == (0, "", "No findings.\n")


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


def test_validate_as_json(invoke: Invoke) -> None:
    code, out, err = invoke("validate", "--format", "json", BAD)
    assert (code, err) == (1, "")
    findings = json.loads(out)
    assert [(f["path"], f["line"], f["column"], f["level"], f["rule"]) for f in findings] == [
        (BAD, 8, 15, "error", "schema"),
        (BAD, 13, 11, "error", "ambiguous-scalar"),
        (BAD, 19, 13, "error", "unknown-key"),
    ]
    assert findings[2]["entry"] == "example.kind-3"
    assert invoke("validate", "--format", "json") == (0, "[]\n", "")


def test_validate_as_annotations(invoke: Invoke) -> None:
    code, out, err = invoke("validate", "--format", "github", BAD)
    assert (code, err) == (1, "")
    assert out.splitlines()[2] == (
        f"::error file={BAD},line=19,col=13,title=unknown-key::[example.kind-3] "
        "The key 'colour' is not in the schema. Fix: correct or remove the key. See "
        "https://github.com/holisticbias/holisticbias/blob/main/docs/rules/unknown-key.md"
    )
    assert invoke("validate", "--format", "github") == (0, "", "")


def test_validate_a_file_by_the_rules_of_the_repository_it_lies_in(terms_copy: Path, invoke: Invoke) -> None:
    path = terms_copy / "descriptors" / "age.yaml"
    path.write_text(path.read_text("utf-8").replace("sources: [smith-2022]", "sources: [nobody-2020]", 1), "utf-8")
    code, out, _ = invoke("validate", path)
    assert (code, out.count("\n")) == (1, 2)
    assert "known-source" in out
    assert "published-changed" in out
    assert invoke("validate", terms_copy / "nouns")[0] == 0
    assert invoke("validate", terms_copy)[0] == 1


def test_validate_shipped_terms_from_anywhere(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("validate") == (0, "", "No findings.\n")


# build


def test_build_writes_a_release(run: Run, tmp_path: Path, release: Release) -> None:
    done = run("build", "--version", "1.0.0", "--out", tmp_path / "new" / "release")
    assert (done.returncode, done.stderr) == (0, "")
    assert "HolisticBias 1.0.0, 472,566 sentences, 598 descriptors, 30 nouns, 26 templates" in done.stdout
    assert open_release(tmp_path / "new" / "release").digest == release.digest
    assert contents(tmp_path / "new") == {"release"}


def test_build_makes_the_newest_version_unless_told(invoke: Invoke, tmp_path: Path, catalog: Catalog) -> None:
    assert invoke("build", "--small", "--out", tmp_path / "small")[0] == 0
    assert open_release(tmp_path / "small").version == catalog.published[-1]


def test_small_is_a_hundred_descriptors_over_all_axes(small_release: Release, release: Release) -> None:
    axes = small_release.tables["descriptors"]["axis"].to_pylist()
    assert len(axes) == 100
    assert set(axes) == set(release.tables["descriptors"]["axis"].to_pylist())
    assert {axes.count(axis) for axis in axes} == {7, 8}
    for name in ("nouns", "templates"):
        assert small_release.tables[name].equals(release.tables[name])


@pytest.fixture
def compiled(catalog: Catalog, small_release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small subset of version 1.0.0 is compiled once for the tests that write it."""
    monkeypatch.setattr("holisticbias.rules.validate.load_catalog", lambda _: catalog)
    monkeypatch.setattr("holisticbias.release.build.build_release", lambda *_: small_release)


@pytest.mark.usefixtures("compiled")
def test_build_leaves_alone_what_is_no_release(invoke: Invoke, tmp_path: Path, small_folder: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "note.txt").write_text("mine")
    (tmp_path / "link").symlink_to("folder")
    shutil.copytree(small_folder, tmp_path / "other")
    manifest = tmp_path / "other" / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"version": "1.0.0"', '"version": "0.9.0"'), "utf-8")
    before = contents(tmp_path)
    for name, message in {
        "file": "is not a folder: choose another name",
        "link": "is not a folder: choose another name",
        "folder": "holds something else: choose another folder, or remove it first",
        "other": "holds something else: choose another folder, or remove it first",
        "file/release": "cannot write to",
        "file/deeper/release": "cannot write to",
    }.items():
        code, out, err = invoke("build", "--small", "--version", "1.0.0", "--out", tmp_path / name)
        assert (code, out) == (2, ""), name
        assert message in err
        assert err.count("\n") == 1
    assert contents(tmp_path) == before
    assert (tmp_path / "folder" / "note.txt").read_text() == "mine"


@pytest.mark.usefixtures("compiled")
def test_build_replaces_the_same_version_and_fills_an_empty_folder(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    for _ in range(2):
        assert invoke("build", "--small", "--version", "1.0.0", "--out", tmp_path / "release")[0] == 0
        open_release(tmp_path / "release")
        (tmp_path / "release" / "README.md").write_text("spoilt")
    assert contents(tmp_path) == {"release"}


@pytest.mark.usefixtures("compiled")
def test_build_into_the_current_folder_is_refused(
    invoke: Invoke, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = invoke("build", "--small", "--version", "1.0.0", "--source", root, "--out", ".")
    assert (code, out) == (2, "")
    assert "is the current folder, which cannot be replaced: name a folder in it" in err


def test_source_without_versions(terms_copy: Path, invoke: Invoke, tmp_path: Path) -> None:
    for name in FOLDERS:
        shutil.rmtree(terms_copy / name)
        (terms_copy / name).mkdir()
    (terms_copy / "waivers.yaml").unlink()
    (terms_copy / "intersections.yaml").unlink()
    for arguments in (["show", "Deaf"], ["build", "--out", tmp_path / "release"]):
        code, out, err = invoke(*arguments, "--source", terms_copy)
        assert (code, out) == (2, "")
        assert err == "holisticbias: there is no version '0.0.0': releases/ has none\n"


def test_build_into_a_folder_that_cannot_be_written(root: Path) -> None:
    """Runs as the user nobody if the tests run as root, who can write anywhere."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        program = (
            f"import os, subprocess, sys; sys.path.insert(0, {str(root / 'tools')!r})\n"
            "from holisticbias import cli\nfrom holisticbias.release import build\n"
            "from holisticbias.rules import validate\n"
            f"catalog = validate.load_catalog({str(root)!r}); made = build.build_release(catalog, '1.0.0', 'small')\n"
            "validate.load_catalog = lambda source: catalog; build.build_release = lambda *a: made\n"
            "cli.import_module('holisticbias.commands.build'); os.geteuid() or os.setuid(65534)\n"
            f"sys.exit(cli.main(['build', '--small', '--out', {folder + '/release'!r}]))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"holisticbias: cannot write to {folder}: Permission denied\n"
        Path(folder).chmod(0o755)
        assert contents(Path(folder)) == set()


def test_build_on_a_full_disk(tmp_path: Path, root: Path) -> None:
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); "
        "from holisticbias.__main__ import run; run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "build", "--version", "1.0.0", "--small", "--out", tmp_path / "release"],
        cwd=root,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"holisticbias: cannot write {tmp_path / 'release'}: ")
    assert done.stderr.count("\n") == 1
    assert contents(tmp_path) == set()


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, 130, "holisticbias: interrupted; no partial output remains\n"),
        (signal.SIGTERM, 130, "holisticbias: interrupted; no partial output remains\n"),
        (signal.SIGHUP, 130, "holisticbias: interrupted; no partial output remains\n"),
        (signal.SIGKILL, -signal.SIGKILL, ""),
    ],
)
def test_build_interrupted(tmp_path: Path, root: Path, sent: signal.Signals, code: int, message: str) -> None:
    start = (  # nohup has the signal ignored
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); from holisticbias.__main__ import run; run()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", start, "build", "--version", "1.0.0", "--out", tmp_path / "release"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not contents(tmp_path) and process.poll() is None:  # until it begins to write
        time.sleep(0.001)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.removeprefix("\n")) == (code, "", message)
    assert "release" not in contents(tmp_path)
    if sent == signal.SIGKILL:
        again = ["build", "--version", "1.0.0", "--where", "axis=nonce", "--out", str(tmp_path / "release")]
        subprocess.run([*COMMAND, *again], cwd=root, stdout=subprocess.PIPE, check=True, timeout=60)
        assert [path.name for path in tmp_path.iterdir()] == ["release"]
    else:
        assert contents(tmp_path) == set()


# show


def test_show_a_term_before_the_noun(invoke: Invoke) -> None:
    code, out, err = invoke("show", "deaf", "--version", "1.0.0")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Deaf  [ability.deaf]"
    assert lines[1] == "  Ability / auditory; before the noun; since 1.0.0"
    assert lines[2] == "  reviewed: accepted (smith-2022, en-US, 2022-12)"
    assert "  with the noun 'person': a Deaf person / Deaf people" in lines
    assert "  without a noun: Deaf / Deaf" in lines
    assert "    I love Deaf people." in lines
    assert "    I'm Deaf." in lines
    assert "    I love Deaf." not in lines
    assert sum(line.startswith("    ") for line in lines) == 26 + 17
    assert "without a noun" not in invoke.printed("show", "with a disability"), "it comes after the noun"


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["ability.deaf"], ["Deaf  [ability.deaf]"]),
        (["Queer"], ["queer  [gender_and_sex.queer]", "queer  [sexual_orientation.queer]"]),
        (
            ["WITH A DISABILITY"],
            [
                "  Ability / after_the_noun; after the noun; since 1.0.0",
                "  with the noun 'person': a person with a disability / people with disabilities",
            ],
        ),
        (["Latina"], ["  with the noun 'woman': a Latina woman / Latina women"]),
        (["Deaf", "--noun", "grandma"], ["  with the noun 'grandma': a Deaf grandma / Deaf grandmas"]),
        (["Deaf", "--noun", "noun.kid"], ["  with the noun 'kid': a Deaf kid / Deaf kids"]),
        (["one-percenter"], ["  with the noun 'person': an one-percenter person / one-percenter people"]),
    ],
)
def test_show(invoke: Invoke, arguments: list[str], lines: list[str]) -> None:
    code, out, _ = invoke("show", "--version", "1.0.0", *arguments)
    assert code == 0
    assert [line for line in out.splitlines() if line in lines] == lines


OUT = ("build", "--out", "OUT")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("validate", "missing.yaml"), "missing.yaml: no such file or folder"),
        (
            ("validate", "tools"),
            "tools has no terms: name a folder with descriptors/, nouns/ and templates/, or a file",
        ),
        ((*OUT, "--version", "9.9.9"), "there is no version '9.9.9': releases/ has 1.0.0"),
        ((*OUT, "--version", "../1.0.0"), "there is no version '../1.0.0': releases/ has 1.0.0"),
        ((*OUT, "--version", ""), "there is no version '': releases/ has 1.0.0"),
        ((*OUT, "--source", "tools"), "tools is not a folder of terms: it needs descriptors/, nouns/ and templates/"),
        ((*OUT, "--colour", "red"), "No such option '--colour'."),
        (("build",), "Missing option '--out'"),
        (("show", "whelchair-bound"), "has no entry 'whelchair-bound'; close to it: wheelchair-bound"),
        (("show", "xyzzy"), "has no entry 'xyzzy'"),
        (("show", ""), "has no entry ''"),
        (("show", "Deaf", "--noun", "robot"), "'Deaf' does not go with the noun 'robot'; it goes with: woman, "),
        (("show", "Latina", "--noun", "man"), "'Latina' does not go with the noun 'man'; it goes with: woman, "),
        (("show", "Deaf", "--version", ""), "there is no version ''"),
        (("show", "Deaf", "--version", "0.0.1"), "there is no version '0.0.1'"),
        (("frobnicate",), "Usage: holisticbias"),
        ((), "Usage: holisticbias"),
    ],
)
def test_what_cannot_run_is_one_message(
    invoke: Invoke, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = invoke(*(tmp_path / "release" if a == "OUT" else a for a in arguments))
    assert (code, out, message in err) == (2, "", True), err
    assert err.startswith("Usage: ") or err.count("\n") == 1
    assert contents(tmp_path) == set()


# schema, help, version


def test_schema_check_and_write(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("schema", "--check") == (0, "", "")
    code, out, _ = invoke("schema", "--check", "--out", tmp_path / "new")
    # eleven kinds of source files, and the records of the evaluation
    expected = 11 + len(entry_points(group="holisticbias.schemas"))
    assert (code, out.count("is out of date: run holisticbias schema\n")) == (1, expected)
    assert not (tmp_path / "new").exists()
    assert invoke("schema", "--out", tmp_path / "new")[0] == 0
    assert invoke("schema", "--check", "--out", tmp_path / "new") == (0, "", "")
    (tmp_path / "new" / "nouns.schema.json").write_text("{}")
    (tmp_path / "new" / "templates.schema.json").write_bytes(b"\xff")
    code, out, _ = invoke("schema", "--check", "--out", tmp_path / "new")
    assert (code, out.count("is out of date")) == (1, 2)


def test_help_and_version(invoke: Invoke) -> None:
    for verb in ("build", "schema", "show", "validate"):
        assert invoke.printed(verb, "--help").startswith(f"Usage: holisticbias {verb}")
        assert re.search(rf"^  {verb} ", invoke.printed("--help"), re.MULTILINE)
    assert invoke.printed("--version").startswith("holisticbias, version ")


def test_help_loads_neither_arrow_nor_torch(root: Path) -> None:
    program = (
        "import sys; from holisticbias.cli import main; main(['--help']); "
        "print(sorted({'pyarrow', 'numpy', 'pydantic', 'yaml', 'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


# terminals, pipes and other packages


@pytest.mark.parametrize("arguments", [["validate", "--format", "json", BAD], ["--help"]])
def test_nobody_reads_the_output(root: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run([*COMMAND, *arguments], cwd=root, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b""


def test_full_device_as_output(root: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "show", "Deaf"], cwd=root, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"holisticbias: input or output: No space left on device\n"


def test_terminal_that_cannot_show_a_letter(run: Run) -> None:
    done = run("show", "\u014d\U0001f600", environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert done.stderr.startswith("holisticbias: version ")


def test_verb_whose_package_cannot_be_loaded_says_so(monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    from importlib.metadata import EntryPoint, EntryPoints

    broken = EntryPoint("measure-all", "no_such_package.commands:command", "holisticbias.commands")
    monkeypatch.setattr("holisticbias.cli.entry_points", lambda **wanted: EntryPoints([broken]).select(**wanted))
    code, out, _ = invoke("--help")
    assert (code, "measure-all  (cannot be loaded)" in out) == (0, True)
    code, out, err = invoke("measure-all", "--model", "x")
    assert (code, out) == (2, "")
    assert err == (
        "holisticbias: measure-all cannot be loaded from no_such_package.commands: No module named 'no_such_package'\n"
    )


def test_commands_take_their_source_from_an_option(terms_copy: Path, invoke: Invoke) -> None:
    for path in (terms_copy / "descriptors").iterdir():
        if path.name != "age.yaml":
            path.unlink()
    (terms_copy / "subsets" / "small.yaml").unlink()
    shutil.rmtree(terms_copy / "specifications")  # some of them name descriptors
    (terms_copy / "waivers.yaml").unlink()
    (terms_copy / "intersections.yaml").unlink()
    for path in (terms_copy / "releases").iterdir():  # another set of terms, without published versions
        if path.suffix == ".json":
            path.unlink()
        else:
            path.write_text(re.sub("digest: .*\n", "", path.read_text("utf-8")), "utf-8")
    assert "has no entry 'Deaf'" in invoke("show", "Deaf", "--source", terms_copy)[2]
    assert invoke("show", "old", "--source", terms_copy)[0] == 0


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(paths: object) -> None:
        raise MemoryError

    monkeypatch.setattr("holisticbias.rules.validate.validate_paths", full)
    assert main(["validate"]) == 2
    assert capsys.readouterr().err == "holisticbias: there is not enough memory for this input\n"
