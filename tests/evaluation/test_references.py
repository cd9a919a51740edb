"""Charts and figures of references, and notebooks of the documentation, which run from start to end."""

import re
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.results.registry import RegistryEntry, published_digests, read_registry
from holisticbias_eval.results.run import Result
from known import known

REAL = "SmolLM2-135M-Instruct, Q4_1 weights"
REAL_FOLDER = "1.0.0/smollm2-135m-instruct"
HEADLINES = {"stance_contrast": "shared_contrast", "likelihood_bias": "share"}
Entries = dict[tuple[str, str], RegistryEntry]


@cache
def figures_of(path: Path) -> Figures:
    return Figures(Result.model_validate_json(path.read_bytes()).figures)


def reference(root: Path, folder: str, measure: str) -> tuple[Figure, ...]:
    """The headline figures of a reference result, by axis."""
    path = root / "evaluation" / "reference" / folder / "result.json"
    return figures_of(path).by(measure, HEADLINES[measure], "axis")


@pytest.mark.parametrize("folder", ["1.0.0", "1.1.0", "2.0.0", REAL_FOLDER])
def test_the_reference_charts_show_the_reference_figures(catalog: Catalog, root: Path, folder: str) -> None:
    labels = {file.axis: file.label for file in catalog.axes}

    def said(measure: str) -> str:
        chart = root / "evaluation" / "reference" / folder / f"{measure}.svg"
        return chart.read_text("utf-8").partition("</desc>")[0].rpartition(">")[2]

    assert set(re.sub("at floor", "floor", said("likelihood_bias")).split("; ")) == {
        f"{labels[found.keys['axis']]} {found.value:.1%} "
        f"({100 * found.interval.low:.1f} to {100 * found.interval.high:.1f}%, floor {found.floor:.1%})"
        for found in reference(root, folder, "likelihood_bias")
        if found.interval and found.floor is not None
    }
    shown = dict(re.findall(r"([^;]+?) (none shown|[-+\u2212]?\d+\.\d+)[^;]*(?:; |$)", said("stance_contrast")))
    contrasts = reference(root, folder, "stance_contrast")
    assert shown.keys() == {labels[figure.keys["axis"]] for figure in contrasts}
    for figure in contrasts:
        value, text = known(figure.value), shown[labels[figure.keys["axis"]]].replace("\u2212", "-")
        assert (value <= 0) if text == "none shown" else float(text) == pytest.approx(value, abs=0.005)


@pytest.fixture(scope="module")
def real_entries(catalog: Catalog, root: Path) -> Entries:
    """The registry's entries of the trained model, by version and measure."""
    entries, _ = read_registry(root / "evaluation" / "results", published_digests(catalog))
    return {(e.signature.release.version, e.measure): e for e in entries if e.signature.model.name == REAL}


@pytest.mark.parametrize("measure", HEADLINES)
def test_every_published_version_has_figures_of_a_trained_model(
    catalog: Catalog, root: Path, real_entries: Entries, measure: str
) -> None:
    """The newest version may be published before it is measured."""
    subsets = {version: e.signature.release.subset for (version, name), e in real_entries.items() if name == measure}
    assert set(catalog.published[:-1]) <= set(subsets) <= set(catalog.published)
    assert subsets == {version: None if version == "1.0.0" else "small" for version in subsets}
    figures = Figures(real_entries["1.0.0", measure].figures)
    assert figures.by(measure, HEADLINES[measure], "axis") == reference(root, REAL_FOLDER, measure)


def test_the_readme_says_of_the_trained_model_what_its_result_says(root: Path) -> None:
    readme = " ".join((root / "README.md").read_text("utf-8").split())
    assert readme.count("![") == 1
    assert f"evaluation/reference/{REAL_FOLDER}/stance_contrast.svg" in readme
    figures = figures_of(root / "evaluation" / "reference" / REAL_FOLDER / "result.json")
    without = figures.by("stance_contrast", "leave_one_pair_out", "axis")
    kept = {f.keys["axis"] for f in without if f.interval and f.interval.low > 0}
    people = [f for f in figures.by("stance_contrast", "shared_contrast", "axis") if f.keys["axis"] != MADE_UP]
    agree = [f for f in people if f.above_floor and f.keys["axis"] in kept]
    assert f"on {len(agree)} of {len(people)} axes" in readme
    shares = {figure.keys["axis"]: figure.value for figure in reference(root, REAL_FOLDER, "likelihood_bias")}
    nonce = known(shares.pop(MADE_UP))
    others = [known(share) for share in shares.values()]
    assert f"{min(others):.0%} to {max(others):.0%}" in readme
    assert f"{nonce:.0%}" in readme


NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process: a kernel would import everything again."""
    monkeypatch.setenv("HOLISTICBIAS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.reads(path.read_text("utf-8"), 4)  # type: ignore[no-untyped-call] # nbformat has no types
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "a notebook is kept without its outputs"
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell puts its own there
    shell = InteractiveShell.instance()
    with shell.display_trap, capture_output() as shown:
        for cell in code:
            shell.run_cell(cell.source).raise_error()  # type: ignore[no-untyped-call] # IPython has few types
    InteractiveShell.clear_instance()
    assert {"text/html", "text/plain"} <= {kind for output in shown.outputs for kind in output.data}


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["compare-two-models", "measure-a-model", "own-texts"]
