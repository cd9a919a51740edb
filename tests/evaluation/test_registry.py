from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias.catalog import Catalog
from holisticbias_eval.errors import RegistryError
from holisticbias_eval.registry import Entry, make_entry, read_registry
from holisticbias_eval.report.leaderboard import REMINDER, leaderboard_tables, render_leaderboard
from holisticbias_eval.run import Result, read_run

Answer = tuple[int, str, str]
Invoke = Callable[..., Answer]


@pytest.fixture(scope="module")
def result(tiny_run: Path) -> Result:
    return read_run(tiny_run).result


@pytest.fixture(scope="module")
def entry(result: Result) -> Entry:
    return make_entry(result, {"age": "Age"}, "Ada", "2026-11-22", "some/model")


@pytest.fixture(scope="module")
def digests(result: Result) -> dict[str, str]:
    return {"0.1.0": result.signature.release.digest}


def write(entry: Entry, folder: Path, name: str | None = None) -> Path:
    path = folder / (name or entry.file_name)
    path.write_text(entry.model_dump_json(), "utf-8")
    return path


def test_an_entry_holds_the_figures_of_its_run(entry: Entry, result: Result) -> None:
    assert [(f.axis, f.share) for f in entry.by_axis] == [(s.axis, s.share) for s in result.likelihood_bias.by_axis]
    assert result.trust
    assert [f.interval for f in entry.by_axis] == [t.interval for t in result.trust.by_axis]
    assert [f.label for f in entry.by_axis] == ["Age", "ability", "nonce"]
    assert entry.signature.model.name == "some/model"
    assert entry.signature.model.weights_sha256 == result.signature.model.weights_sha256
    assert entry.file_name == "some-model-on-0.1.0-likelihood-bias.json"


def test_a_folder_of_one_machine_is_no_name(result: Result) -> None:
    with pytest.raises(RegistryError, match="is a folder of one machine: say with --name"):
        make_entry(result, {}, "Ada", "2026-11-22", None)


def test_the_projects_registry_is_in_order(catalog: Catalog, root: Path) -> None:
    digests = {release.version: release.digest for release in catalog.releases if release.digest}
    entries, problems = read_registry(root / "evaluation" / "results", digests)
    assert problems == ()
    reference = root / "evaluation" / "reference" / "1.0.0" / "result.json"
    embedded = next(e for e in entries if e.signature.model.name == "embedded")
    assert embedded.signature == Result.model_validate_json(reference.read_bytes()).signature


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "2.0.0"])
def test_the_reference_chart_shows_the_reference_result(catalog: Catalog, root: Path, version: str) -> None:
    folder = root / "evaluation" / "reference" / version
    result = Result.model_validate_json((folder / "result.json").read_bytes())
    said = (folder / "likelihood_bias.svg").read_text("utf-8").partition("</desc>")[0].rpartition(">")[2]
    labels = {file.axis: file.label for file in catalog.axes}
    assert result.trust
    assert set(re.sub("at floor", "floor", said).split("; ")) == {
        f"{labels[found.axis]} {found.share:.1%} "
        f"({100 * found.interval.low:.1f} to {100 * found.interval.high:.1f}%, floor {found.floor:.1%})"
        for found in result.trust.by_axis
        if found.axis and found.interval and found.floor is not None
    }


def changed(entry: Entry, path: str, value: object) -> str:
    content = json.loads(entry.model_dump_json())
    place = content
    *keys, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in keys:
        place = place[key]
    place[last] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("verdict", "biased", "verdict: Extra inputs are not permitted"),
        ("by_axis.0.share", 1.5, "by_axis.0.share: Input should be less than or equal to 1"),
        ("by_axis.0.share", 0.123, "by_axis.age: its share is not"),
        ("by_axis.0.significant", 99, "by_axis.age: 99 of 9 pairs cannot differ"),
        ("by_axis.0.interval", {"low": 0.5, "high": 0.2}, "by_axis.age: its interval must go upwards"),
        ("by_axis.0.interval", {"low": -0.5, "high": 0.2}, "by_axis.age: its interval must go upwards"),
        ("signature.sentences_scored", 10**9, "signature.sentences_scored: there are not so many"),
        ("by_axis.0.axis", "nonce", "by_axis: nonce stands there 2 times"),
        ("signature.release.version", "9.9.9", "signature.release.version: 9.9.9 is not published"),
        ("signature.release.digest", "0" * 64, "signature.release.digest: is not that of release 0.1.0"),
        ("signature.measures", ["phrenology"], "signature.measures: there is no measure 'phrenology'"),
        ("signature.model.name", "./own", "signature.model.name: ./own is a folder of one machine"),
        ("signature.model.name", "other/model", "its file must be called other-model-on-0.1.0-likelihood-bias.json"),
    ],
)
def test_what_is_wrong_is_named(
    entry: Entry, digests: dict[str, str], tmp_path: Path, path: str, value: object, message: str
) -> None:
    write(entry, tmp_path).write_text(changed(entry, path, value), "utf-8")
    _, problems = read_registry(tmp_path, digests)
    assert any(str(problem).startswith(f"{tmp_path / entry.file_name}: {message}") for problem in problems), problems


def test_a_share_without_pairs_is_missing(entry: Entry, digests: dict[str, str], tmp_path: Path) -> None:
    none = entry.by_axis[0].model_copy(update={"pairs": 0, "significant": 0, "share": 0.0})
    write(entry.model_copy(update={"by_axis": (none,)}), tmp_path)
    assert "there is no share" in str(read_registry(tmp_path, digests)[1][0])


def test_models_stand_beside_each_other_by_name_and_releases_apart(entry: Entry) -> None:
    def of(name: str, version: str) -> Entry:
        signature = entry.signature
        model = signature.model.model_copy(update={"name": name, "note": "Read <b>this</b>."})
        release = signature.release.model_copy(update={"version": version})
        return entry.model_copy(update={"signature": signature.model_copy(update={"model": model, "release": release})})

    tables = leaderboard_tables([of("b/b", "1.0.0"), of("A|a", "1.0.0"), of("b/b", "2.0.0")])
    assert [[column.heading for column in table.columns] for table in tables] == [
        ["Axis", "A|a", "b/b"],
        ["Axis", "b/b"],
    ]
    assert [len(row) for row in tables[0].rows] == [3, 3, 3]
    text = render_leaderboard([of("A|a", "1.0.0")])
    assert text.startswith(f"> {REMINDER}")
    assert "A\\|a: Read \\<b\\>this\\</b\\>." in text


def test_the_command_adds_checks_and_shows(tiny_run: Path, invoke: Invoke, tmp_path: Path) -> None:
    add = ("leaderboard", "--results", tmp_path, "--add", tiny_run)
    assert invoke(*add) == (2, "", "holisticbias: say who made the run with --contributor\n")
    code, said, _ = invoke(*add, "--contributor", "Ada", "--name", "some/model")
    assert (code, said) == (0, f"wrote {tmp_path / 'some-model-on-0.1.0-likelihood-bias.json'}\n")
    # the mini release is none that is published
    code, said, _ = invoke("leaderboard", "--results", tmp_path, "--check")
    assert (code, said.count("\n")) == (1, 1)
    assert invoke("leaderboard", "--results", tmp_path)[0] == 2
    assert invoke("leaderboard", "--results", tmp_path / "none")[0] == 2
    code, said, _ = invoke("leaderboard")
    assert code == 0
    assert "no verdicts" in said
    assert invoke("leaderboard", "--check") == (0, "", "")
