import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from altered import altered, set_value
from holisticbias.errors import OutputError
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.errors import RegistryError
from holisticbias_eval.figures import Figures
from holisticbias_eval.report.leaderboard import REMINDER, leaderboard_tables, render_leaderboard
from holisticbias_eval.results.registry import (
    Published,
    RegistryEntry,
    add_entries,
    make_entries,
    published_digests,
    read_registry,
    results_folder,
)
from holisticbias_eval.results.run import RESULT, Run, read_signature
from holisticbias_eval.sections.tables import Table
from holisticbias_eval.site.models import side_by_side
from holisticbias_eval.site.models_results import collect_results
from invoking import Invoke


@pytest.fixture(scope="module")
def entry(run: Run) -> RegistryEntry:
    """The entry of Likelihood Bias."""
    entries = make_entries(run, "Ada", "2026-11-22", "some/model")
    return next(entry for entry in entries if entry.measure == "likelihood_bias")


@pytest.fixture(scope="module")
def published(run: Run) -> Published:
    """The mini release as if it were published, and a subset of it."""
    digests = {("0.1.0", None): run.result.signature.release.digest, ("0.1.0", "small"): "5" * 64}
    return lambda version, subset: digests.get((version, subset))


def write(entry: RegistryEntry, folder: Path, name: str | None = None) -> Path:
    path = folder / (name or entry.file_name)
    path.write_text(entry.model_dump_json(), "utf-8")
    return path


def test_an_entry_holds_the_headline_figures_of_its_run(entry: RegistryEntry, run: Run) -> None:
    shares = Figures(run.result.figures).by("likelihood_bias", "share", "axis")
    assert [f for f in entry.figures if f.name == "share"] == list(shares)
    assert {f.name for f in entry.figures} == {"share", "differing_pairs", "descriptors"}
    assert entry.labels == {"age": "Age", "ability": "Ability", "nonce": "Nonce"}
    assert entry.signature.measures == ("likelihood_bias",)
    assert entry.signature.measuring.keys() == {"likelihood_bias"}
    assert entry.signature.model.name == "some/model"
    assert entry.signature.model.weights_sha256 == run.result.signature.model.weights_sha256


def test_a_run_without_figures_that_are_kept_is_refused(run: Run) -> None:
    signature = run.result.signature.model_copy(update={"measures": ("medians", "a_later_measure")})
    other = replace(run, result=run.result.model_copy(update={"signature": signature}))
    with pytest.raises(
        RegistryError, match=r"keeps figures by axis, domain, .* or specification, and this run has none"
    ):
        make_entries(other, "Ada", "2026-11-22", "some/model")


LOCAL: list[tuple[dict[str, object], str | None]] = [
    ({"name": "/home/ada/gpt2"}, None),
    ({"name": "gpt2"}, None),  # without a revision it is a folder, whatever its name
    ({"name": "models/gpt2"}, None),
    ({"name": "model.Q4_1.gguf"}, None),
    ({"name": "gpt2"}, "./gpt2"),
]
NAMED: list[tuple[dict[str, object], str | None]] = [
    ({"name": "gpt2"}, "Ada's GPT-2, quantized"),
    ({"name": "model.Q4_1.gguf"}, "SmolLM2-135M-Instruct, Q4_1 weights"),
    ({"name": "gpt2", "revision": "607a30d"}, None),
    ({"name": "openai-community/gpt2", "revision": "607a30d"}, None),
    ({"name": "embedded"}, None),
    ({"name": "gpt-x", "weights_sha256": None}, None),  # a server's model: --check says that it is not public
]


def test_a_model_from_a_folder_needs_a_name(run: Run) -> None:
    def made(model: dict[str, object], name: str | None) -> set[str]:
        made = make_entries(altered(run, model), "Ada", "2026-11-22", name)
        return {entry.signature.model.name for entry in made}

    assert [made(model, name) for model, name in NAMED] == [{name or model["name"]} for model, name in NAMED]
    for model, name in LOCAL:
        with pytest.raises(RegistryError, match="is a folder on one machine: give"):
            made(model, name)


def test_the_projects_registry_is_in_order(catalog: Catalog, root: Path) -> None:
    entries, problems = read_registry(root / "evaluation" / "results", published_digests(catalog))
    assert problems == ()
    reference = read_signature(root / "evaluation" / "reference" / "1.0.0")
    embedded = [e for e in entries if e.signature.model.name == "embedded"]
    assert {e.measure for e in embedded} == {"stance_contrast", "likelihood_bias"}
    for e in embedded:
        assert (e.signature.model, e.signature.release) == (reference.model, reference.release)


SIGNED, SHARE = "signature.", "figures: share of age"
WRONG: list[tuple[str, object, str]] = [
    ("verdict", "biased", "verdict: the key is not in the schema"),
    ("figures.0.value", 1.5, f"{SHARE}: a share must lie between 0 and 1"),
    ("figures.0.value", 0.123, "figures: age: its share is not"),
    ("figures.0.interval", {"low": 0.5, "high": 0.2}, f"{SHARE}: its interval must have low <= high"),
    ("figures.0.interval", {"low": -0.5, "high": 0.2}, f"{SHARE}: a share must lie between 0 and 1"),
    ("figures.0.interval", {"low": 0.2, "high": 1.1}, f"{SHARE}: a share must lie between 0 and 1"),
    ("figures.0.value", -0.1, f"{SHARE}: a share must lie between 0 and 1"),
    ("figures.0.n", 0, f"{SHARE} has a value although n is 0: it must be null"),
    ("figures.0.p_value", float("inf"), f"{SHARE}: a number is not finite"),
    ("figures.0.measure", "medians", f"{SHARE} belongs to the measure 'medians'"),
    ("figures.0.keys.axis", "nonce", "figures: share of nonce is given 2 times"),
    ("measure", "phrenology", "measure: there is no measure 'phrenology'"),
    (f"{SIGNED}sentences_scored", 10**9, f"{SIGNED}sentences_scored: more than the available sentences"),
    (f"{SIGNED}sentences_scored", 80, f"{SIGNED}sentences_scored: 80 sentences scored and 19 skipped are not all"),
    (f"{SIGNED}release.version", "9.9.9", f"{SIGNED}release.version: 9.9.9 is not published"),
    (f"{SIGNED}release.prompts", "mine", f"{SIGNED}release.prompts: it is of the prompts 'mine': measure a published"),
    (f"{SIGNED}release.digest", "0" * 64, f"{SIGNED}release.digest: is not the digest of release 0.1.0: measure"),
    (f"{SIGNED}release.subset", "mine", f"{SIGNED}release.subset: release 0.1.0 has no subset 'mine'"),
    (f"{SIGNED}release.subset", "small", f"{SIGNED}release.digest: is not the digest of the subset small"),
    (f"{SIGNED}model.name", ", ", f"{SIGNED}model.name: a name needs a letter or a digit"),
    (f"{SIGNED}model.name", "./own", f"{SIGNED}model.name: ./own is a folder on one machine"),
    (f"{SIGNED}model.name", "other/model", "its file must be called other-model-on-0.1.0-likelihood-bias.json"),
]


@pytest.mark.parametrize(("path", "value", "message"), WRONG)
def test_what_is_wrong_is_named(
    entry: RegistryEntry, published: Published, tmp_path: Path, path: str, value: object, message: str
) -> None:
    file, content = write(entry, tmp_path), json.loads(entry.model_dump_json())
    set_value(content, path, value)
    file.write_text(json.dumps(content), "utf-8")
    _, problems = read_registry(tmp_path, published)
    assert any(problem.startswith(f"{file}: {message}") for problem in problems), problems


def test_a_file_that_is_too_large_is_a_problem(published: Published, tmp_path: Path) -> None:
    (tmp_path / "large.json").touch()
    os.truncate(tmp_path / "large.json", 1 << 40)
    _, problems = read_registry(tmp_path, published)
    assert "it has 1,099,511,627,776 bytes, more than" in str(problems[0])


def test_a_model_has_a_public_name_or_a_digest(entry: RegistryEntry, published: Published, tmp_path: Path) -> None:
    name, digest = "SmolLM2-135M-Instruct, Q4_1 weights", "0" * 64
    known = [("mine", None, digest), ("mine", "607a30d", None), ("organisation/mine", None, None), (name, None, digest)]
    for model in (*known, ("mine", None, None), (name, None, None)):
        update = dict(zip(("name", "revision", "weights_sha256"), model, strict=True))
        signed = {"model": entry.signature.model.model_copy(update=update)}
        path = write(entry.model_copy(update={"signature": entry.signature.model_copy(update=signed)}), tmp_path)
        problems = read_registry(tmp_path, published)[1]
        expected = f"{path}: signature.model.name: {model[0]} does not identify a model: "
        assert [problem.startswith(expected) for problem in problems] == [True] * (model not in known)
        path.unlink()


def test_digests_are_those_of_published_versions_and_of_their_subsets(catalog: Catalog, small_release: Release) -> None:
    digest_of = published_digests(catalog)
    on_record = next(release.digest for release in catalog.releases if release.version == "1.0.0")
    assert digest_of("1.0.0", None) == on_record != small_release.digest
    assert digest_of("1.0.0", "small") == small_release.digest
    assert [digest_of(*asked) for asked in (("1.0.0", "mine"), ("9.9.9", None), ("9.9.9", "small"))] == [None] * 3


def test_models_stand_beside_each_other_by_name_and_releases_apart(entry: RegistryEntry) -> None:
    def of(name: str, version: str) -> RegistryEntry:
        signature = entry.signature
        model = signature.model.model_copy(update={"name": name, "note": "Read <b>this</b>."})
        release = signature.release.model_copy(update={"version": version})
        return entry.model_copy(update={"signature": signature.model_copy(update={"model": model, "release": release})})

    tables = leaderboard_tables([of("b/b", "1.0.0"), of("A|a", "1.0.0"), of("b/b", "2.0.0")])
    headings = [[column.heading for column in table.columns] for table in tables]
    assert headings == [["Axis", "A|a", "b/b"], ["Axis", "b/b"]]
    assert [len(row) for row in tables[0].rows] == [3, 3, 3]
    captions = [table.caption for table in leaderboard_tables([of("b/b", "10.0.0"), of("b/b", "2.0.0")])]
    assert captions == [f"Likelihood Bias on HolisticBias {version}" for version in ("2.0.0", "10.0.0")]
    text = render_leaderboard([of("A|a", "1.0.0")])
    assert text.startswith(f"> {REMINDER}")
    assert "A\\|a: Read \\<b\\>this\\</b\\>." in text


@pytest.fixture
def run_on(tiny_run: Path, tmp_path: Path) -> Callable[..., Path]:
    """Make a run that says it is of this release."""

    def make(version: str, subset: str | None, digest: str | None) -> Path:
        folder = Path(shutil.copytree(tiny_run, tmp_path / "runs" / f"{version}-{subset}", dirs_exist_ok=True))
        content = json.loads((folder / RESULT).read_text("utf-8"))
        content["signature"]["release"] = {"version": version, "subset": subset, "digest": digest}
        (folder / RESULT).write_text(json.dumps(content), "utf-8")
        return folder

    return make


def test_the_command_adds_checks_and_shows(
    catalog: Catalog, small_release: Release, run_on: Callable[..., Path], invoke: Invoke, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("holisticbias.rules.validate.load_catalog", lambda: catalog)
    monkeypatch.setattr("holisticbias_eval.results.registry.build_release", lambda *_: small_release)
    digest = next(release.digest for release in catalog.releases if release.version == "1.0.0")
    results = tmp_path / "results"
    whole, small = run_on("1.0.0", None, digest), run_on("1.0.0", "small", small_release.digest)
    add = ("leaderboard", "--results", results, "--add")
    results.mkdir()
    assert invoke("leaderboard", "--results", results)[2] == f"{results} has no results: add a run with --add\n"
    results.rmdir()
    assert invoke(*add, whole) == (2, "", "holisticbias: say who made the run with --contributor\n")
    named = ("--contributor", "Ada", "--name", "SmolLM2-135M-Instruct, Q4_1 weights")
    error = invoke.refused(*add, run_on("1.0.0", "other", "0" * 64), *named)
    start = "holisticbias: the registry does not accept this run: signature.release.digest: is not the digest of the"
    assert (error.startswith(f"{start} subset other"), error.count("\n"), results.exists()) == (True, 1, False)
    for run, release in ((whole, "1.0.0"), (small, "1.0.0-small")):
        stem = results / f"smollm2-135m-instruct-q4-1-weights-on-{release}"
        wrote = f"wrote {stem}-stance-contrast.json\nwrote {stem}-likelihood-bias.json\n"
        assert invoke(*add, run, *named) == (0, wrote, "")
    assert invoke("leaderboard", "--results", results, "--check") == (0, "", "")
    said = invoke.printed("leaderboard", "--results", results, "--format", "md")
    assert said.count("SmolLM2-135M-Instruct, Q4\\_1 weights") == 4
    assert "This is not a ranking" in invoke.printed("leaderboard", "--results", results)
    (results / "own.json").write_text("{}", "utf-8")
    code, said, _ = invoke("leaderboard", "--results", results, "--check")
    assert (code, said.count("own.json: ")) == (1, 1)
    assert "--check for all problems" in invoke.refused("leaderboard", "--results", results)
    assert "--contributor and --name need --add" in invoke.refused("leaderboard", "--name", "other")
    assert "--check and --add exclude each other" in invoke.refused(*add, run_on("1.0.0", "x", "0" * 64), "--check")
    assert invoke("leaderboard", "--results", tmp_path / "none")[0] == 2


def test_the_entry_of_another_model_is_not_replaced(entry: RegistryEntry, published: Published, tmp_path: Path) -> None:
    (path,) = add_entries([entry], tmp_path, published)
    corrected = entry.model_copy(update={"note": "corrected"})
    assert add_entries([corrected], tmp_path, published) == [path]
    before = path.read_bytes()
    assert b"corrected" in before
    model = entry.signature.model.model_copy(update={"weights_sha256": "0" * 64})
    other = entry.model_copy(update={"signature": entry.signature.model_copy(update={"model": model})})
    with pytest.raises(RegistryError, match="is the entry of another model: choose another --name"):
        add_entries([other], tmp_path, published)
    assert path.read_bytes() == before


def test_the_entries_of_a_run_are_written_all_or_none(run: Run, published: Published, tmp_path: Path) -> None:
    first, second, *_ = make_entries(run, "Ada", "2026-11-22", "some/model")
    (tmp_path / second.file_name).mkdir()
    with pytest.raises(OutputError, match="is a folder: name a file"):
        add_entries([first, second], tmp_path, published)
    assert [path.name for path in tmp_path.iterdir()] == [second.file_name]


def test_scores_of_pairs_in_other_modes_have_their_own_entry_and_table(run: Run) -> None:
    scoring = run.result.signature.scoring
    modes = (scoring, *({**scoring, "pair_mode": mode} for mode in ("likelihood", "choice")))
    entries = [make_entries(altered(run, scoring=own), "Ada", "2026-11-22", "some/model")[0] for own in modes]
    names = [entry.file_name for entry in entries]
    assert (names[0], names[2]) == (names[1], names[0].replace("0.1.0-", "0.1.0-mode-choice-"))
    captions = [table.caption for table in leaderboard_tables(entries[1:])]
    assert captions == ["Stance contrast on HolisticBias 0.1.0", "Stance contrast on HolisticBias 0.1.0, mode choice"]


def test_results_under_other_conditions_are_named_below_the_table(run: Run) -> None:
    model, scoring = {"weights_sha256": "0" * 64}, {**run.result.signature.scoring, "context": "They said:"}
    runs = {"a/one": run, "b/two": altered(run, model), "c/three": altered(run, model, scoring=scoring)}
    entries = [entry for name, own in runs.items() for entry in make_entries(own, "Ada", "2026-11-22", name)]
    said = "c/three (B) does not compare with a/one (A): the contexts differ."
    assert {table.note for table in leaderboard_tables(entries)} == {said}
    assert render_leaderboard(entries).count(said) == 2
    measured = collect_results(entries, (), (), {}).measured
    _, table = side_by_side([result for result in measured if result.measure == "likelihood_bias"])
    assert isinstance(table, Table)
    assert table.note == said


def test_entries_are_written_in_a_clone_alone(
    tiny_run: Path, root: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "docs")
    assert results_folder() == root / "evaluation" / "results"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert results_folder() is None
    assert invoke.refused("leaderboard", "--add", tiny_run, "--contributor", "Ada", "--name", "some/model") == (
        "holisticbias: entries live in evaluation/results of a clone of the repository, and this folder is not in "
        "a clone: run this in a clone, or name a folder with --results\n"
    )
    assert not list(Path.cwd().iterdir())
