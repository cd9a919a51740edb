"""The command ``site``: the folder, an earlier site, and bad input."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from holisticbias import build_release, write_release
from holisticbias.release.intersections import Request, write_intersections
from holisticbias.rules.published import lock, render_lock
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.results.run import Run, write_run
from invoking import Invoke

PART = ("axis=nonce", "gender=neutral")


@pytest.fixture(scope="module")
def parts(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small parts of three layouts, one of intersections, and an empty registry."""
    folder = tmp_path_factory.mktemp("parts")
    for version in ("1.0.0", "2.0.0", "3.0.0"):
        write_release(build_release(catalog, version, where=PART), folder / version)
    crossed = Request("2.0.0", "nonce x age", sample=5, where=("gender=neutral", "family=dialogue"))
    write_intersections(catalog, crossed, folder / "crossed")
    (folder / "results").mkdir()
    return folder


@pytest.fixture
def options(parts: Path) -> list[str | Path]:
    return ["--release", parts / "2.0.0", "--results", parts / "results"]


def test_it_writes_the_site_and_replaces_it(
    invoke: Invoke, options: list[str | Path], parts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "site"
    releases = ["--release", parts / "1.0.0", parts / "3.0.0"]  # one option, two values
    assert invoke.printed("site", *options, *releases, "--out", out) == f"Site: {out / 'index.html'}\n"
    assert (out / "releases" / "1.0.0-to-3.0.0.html").is_file()
    invoke.printed("site", *options, "--out", out)
    assert not (out / "releases" / "1.0.0.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize(
    ("releases", "message"),
    [
        (["9.9.9"], r"there is no version '9.9.9': releases/ has 1\.0\.0, .*"),
        (["absent-folder"], r"absent-folder is not a release: it does not exist; .*"),
        (["PARTS/2.0.0", "PARTS/2.0.0"], r"two releases are version 2\.0\.0: name one of them"),
        (["PARTS/crossed"], r".* is a part \(.*\) that the site cannot show: name a release of whole sentences"),
        (["MINI"], r".* is version 0\.1\.0, which the terms do not have: name their folder with --source"),
    ],
)
def test_bad_releases_write_nothing(
    invoke: Invoke, parts: Path, mini_release_folder: Path, tmp_path: Path, releases: list[str], message: str
) -> None:
    folders = {"PARTS": str(parts), "MINI": str(mini_release_folder)}
    chosen = [re.sub("PARTS|MINI", lambda name: folders[name[0]], release) for release in releases]
    places = ("--results", parts / "results", "--out", tmp_path / "site")
    errors = invoke.refused("site", "--release", *chosen, *places)
    assert re.fullmatch(f"holisticbias: {message}", errors.splitlines()[-1])
    assert list(tmp_path.iterdir()) == []


def test_it_has_the_documentation_or_links_to_github(invoke: Invoke, options: list[str | Path], tmp_path: Path) -> None:
    built = tmp_path / "built"
    (built / "latest").mkdir(parents=True)
    errors = invoke.refused("site", *options, "--docs", built, "--out", tmp_path / "site")
    assert errors == f"holisticbias: {built} has no documentation: make docs builds it into build/docs\n"
    (built / "latest" / "index.html").write_text("start", "utf-8")
    github = "https://github.com/holisticbias/holisticbias/tree/main/docs"
    for docs, link in (((), github), (("--docs", built), "../docs/latest/index.html")):
        invoke.printed("site", *options, *docs, "--out", tmp_path / "site")
        assert f'<a href="{link}">Docs</a>' in (tmp_path / "site" / "terms" / "index.html").read_text("utf-8")
    assert (tmp_path / "site" / "docs" / "latest" / "index.html").read_text("utf-8") == "start"


def test_a_registry_with_a_problem_is_refused(invoke: Invoke, options: list[str | Path], tmp_path: Path) -> None:
    (tmp_path / "entry.json").write_text("{}", "utf-8")
    errors = invoke.refused("site", *options[:2], "--results", tmp_path, "--out", tmp_path / "site")
    assert errors.endswith("the key is missing (run holisticbias leaderboard --check for all problems)\n")


def test_a_folder_with_something_else_is_kept(invoke: Invoke, options: list[str | Path], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", "utf-8")
    assert "holds something else" in invoke.refused("site", *options, "--out", tmp_path, keeps=tmp_path)


@pytest.mark.filterwarnings("always::holisticbias.errors.WithdrawnVersionWarning")
def test_a_withdrawn_version_says_which_to_use(invoke: Invoke, data: Path, tmp_path: Path) -> None:
    """On its page, and while it is compiled."""
    terms, catalog = shutil.copytree(data / "two-versions", tmp_path / "terms"), load_catalog(data / "two-versions")
    for version, more in (("0.1.0", ""), ("0.2.0", "withdrawn: {date: 2026-01-02, reason: An example.}\n")):
        path = terms / "releases" / f"{version}.yaml"
        digest = build_release(catalog, version).digest
        path.write_text(f'{path.read_text("utf-8")}digest: "{digest}"\n{more}', "utf-8")
        path.with_suffix(".lock.json").write_text(render_lock(lock(catalog, version)), "utf-8")
    (tmp_path / "results").mkdir()
    options = ("--source", terms, "--results", tmp_path / "results", "--out", tmp_path / "site")
    said = "version 0.2.0 was withdrawn on 2026-01-02: An example; use 0.1.0"
    code, _, errors = invoke("site", "--release", "0.2.0", *options)
    assert (code, f"warning: {said}\n" in errors) == (0, True), errors
    assert f">This {said}.<" in (tmp_path / "site" / "releases" / "0.2.0.html").read_text("utf-8")


def test_a_run_that_no_page_shows_is_named(invoke: Invoke, options: list[str | Path], run: Run, tmp_path: Path) -> None:
    for name, figures in (("all", run.result.figures), ("none", ())):
        (tmp_path / name).mkdir()
        write_run(replace(run, result=run.result.model_copy(update={"figures": figures})), tmp_path / name)
    given = ("--runs", tmp_path / "all", tmp_path / "none")
    code, _, said = invoke("site", *options, *given, "--out", tmp_path / "site")
    assert code == 0
    left_out = f"no page of models shows {tmp_path / 'none'}: it has no figure by axis, domain, dimension"
    assert [left_out in line for line in said.splitlines() if "no page" in line] == [True]


def test_terms_without_a_published_version_or_with_other_entries(
    invoke: Invoke, data: Path, parts: Path, tmp_path: Path
) -> None:
    terms = shutil.copytree(data / "two-versions", tmp_path / "terms")
    options = ("--source", terms, "--results", parts / "results", "--out", tmp_path / "site")
    assert "no version is published yet: name a release with --release" in invoke.refused("site", *options)
    write_release(build_release(load_catalog(terms), "0.1.0"), tmp_path / "built")
    path = terms / "descriptors" / "characteristics.yaml"
    path.write_text(path.read_text("utf-8").replace(".veteran,", ".veterans,"), "utf-8")
    said = f"{tmp_path / 'built'} was built from other terms: name their folder with --source"
    assert said in invoke.refused("site", "--release", tmp_path / "built", *options)
