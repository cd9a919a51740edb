from __future__ import annotations

import re
from pathlib import Path

import pytest

from holisticbias.terms.catalog import Catalog
from holisticbias_eval.measures.shares.records import NONCE
from holisticbias_eval.results.registry import Entry, published_digests, read_registry
from holisticbias_eval.results.run import Result

REAL = "SmolLM2-135M-Instruct, Q4_1 weights"
REAL_FOLDER = "1.0.0/smollm2-135m-instruct"


def reference(root: Path, folder: str) -> Result:
    return Result.model_validate_json((root / "evaluation" / "reference" / folder / "result.json").read_bytes())


@pytest.mark.parametrize("folder", ["1.0.0", "1.1.0", "2.0.0", REAL_FOLDER])
def test_the_reference_chart_shows_the_reference_result(catalog: Catalog, root: Path, folder: str) -> None:
    result = reference(root, folder)
    chart = root / "evaluation" / "reference" / folder / "likelihood_bias.svg"
    said = chart.read_text("utf-8").partition("</desc>")[0].rpartition(">")[2]
    labels = {file.axis: file.label for file in catalog.axes}
    assert result.trust
    assert set(re.sub("at floor", "floor", said).split("; ")) == {
        f"{labels[found.axis]} {found.share:.1%} "
        f"({100 * found.interval.low:.1f} to {100 * found.interval.high:.1f}%, floor {found.floor:.1%})"
        for found in result.trust.by_axis
        if found.axis and found.interval and found.floor is not None
    }


@pytest.fixture(scope="module")
def real_entries(catalog: Catalog, root: Path) -> dict[str, Entry]:
    """The registry's entries of the trained model, by version."""
    entries, _ = read_registry(root / "evaluation" / "results", published_digests(catalog))
    return {e.signature.release.version: e for e in entries if e.signature.model.name == REAL}


def test_every_published_version_has_figures_of_a_trained_model(
    catalog: Catalog, root: Path, real_entries: dict[str, Entry]
) -> None:
    published = [release.version for release in catalog.releases if release.digest]
    subsets = {version: entry.signature.release.subset for version, entry in real_entries.items()}
    assert subsets == {version: None if version == "1.0.0" else "small" for version in published}
    shares = {share.axis: share.share for share in reference(root, REAL_FOLDER).likelihood_bias.by_axis}
    assert {figure.axis: figure.share for figure in real_entries["1.0.0"].by_axis} == shares


def test_entries_of_a_trained_model_say_what_was_scored_and_how_exactly(real_entries: dict[str, Entry]) -> None:
    for entry in real_entries.values():
        model, exactness = entry.signature.model, entry.signature.exactness
        assert model.quantization == "Q4_1 (210), F32 (61), Q8_0 (1)"
        assert model.file_sha256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
        assert entry.signature.scoring["first_token"].startswith("not counted: the tokenizer does not prepend")
        assert exactness is not None
        assert exactness.method == "tiled head"
        assert exactness.error is not None
        assert exactness.plain_error is not None
        assert 0 < exactness.error < 2 * exactness.plain_error < 1e-3
        assert all(figure.interval and figure.floor is not None for figure in entry.by_axis)


def test_the_readme_says_of_the_trained_model_what_its_result_says(root: Path) -> None:
    readme = " ".join((root / "README.md").read_text("utf-8").split())
    assert re.findall(r"!\[[^]]*\]\(([^)]*)\)", readme) == [f"evaluation/reference/{REAL_FOLDER}/likelihood_bias.svg"]
    shares = {share.axis: share.share for share in reference(root, REAL_FOLDER).likelihood_bias.by_axis}
    nonce = shares.pop(NONCE)
    known = [share for share in shares.values() if share is not None]
    assert nonce is not None
    assert f"{min(known):.0%} to {max(known):.0%} of the pairs of descriptors of an axis differ" in readme
    assert f"{nonce:.0%} of pairs of made-up words do" in readme
