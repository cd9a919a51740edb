"""Runs of pairs in the registry, and what their page says of how the sentences were made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holisticbias_eval.errors import RegistryError
from holisticbias_eval.report.leaderboard import render_leaderboard
from holisticbias_eval.results.registry import RegistryEntry, add_entries, make_entries, read_registry
from holisticbias_eval.results.run import read_run
from holisticbias_eval.stereotypes.record import SentencesRecord
from invoking import Invoke


def published(version: str, subset: str | None) -> str | None:
    return None


@pytest.fixture
def folder(invoke: Invoke, tiny_gpt2: Path, write_pairs: Callable[..., Path], tmp_path: Path) -> Path:
    """A run of pairs that lie in a folder with the record of their sentences."""
    pairs = write_pairs().rename(tmp_path / "pairs.parquet")
    figures = [
        {"name": "yield", "keys": {"generator": "/somewhere/toy"}, "value": 0.25, "n": 80},
        {"name": "refused", "keys": {"rule": "both-terms"}, "value": 0.75, "n": 80},
        {"name": "words", "keys": {"source": "generated"}, "value": 7.5, "n": 20},
        {"name": "words", "keys": {"source": "template"}, "value": 4.0, "n": 8},
    ]
    rest: dict[str, Any] = {"specifications": [], "settings": {}, "versions": {}, "machine": "any"}
    rest["figures"] = [{"measure": "sentences", "unit": "share", **figure} for figure in figures]
    record = SentencesRecord.model_validate({"source": "generated", "generator": "toy", "model": None, **rest})
    (tmp_path / "sentences.json").write_text(record.model_dump_json(), "utf-8")
    invoke.printed("evaluate", "--pairs", pairs.parent, "--model", tiny_gpt2, "--out", tmp_path / "run")
    return tmp_path / "run"


def test_a_run_of_pairs_is_registered_by_specification(folder: Path, tmp_path: Path) -> None:
    (entry,) = make_entries(read_run(folder), "Ada", "2026-11-22", "some/model")
    assert {f.keys["specification"] for f in entry.figures} == {"invented.one", "invented.two"}
    assert {f.name for f in entry.figures} == {"stereotype_score", "share"}
    digest = entry.signature.release.digest[:12]
    assert entry.file_name == f"some-model-on-pairs-{digest}-stereotype-score.json"
    registry = tmp_path / "registry"
    registry.mkdir()
    (path,) = add_entries([entry], registry, published)
    entries, problems = read_registry(registry, published)
    assert not problems
    shown = render_leaderboard(entries)
    assert "Stereotype score on the pairs" in shown
    assert digest in shown
    assert "| Specification |" in shown
    changed = json.loads(path.read_text("utf-8"))
    changed["signature"]["release"]["digest"] = "unknown"
    with pytest.raises(RegistryError, match="SHA-256 of their rows"):
        add_entries([RegistryEntry.model_validate(changed)], tmp_path / "elsewhere", published)


def test_the_page_shows_yield_and_quality(folder: Path, tmp_path: Path) -> None:
    page = (folder / "report.html").read_text("utf-8")
    for said in ("80 texts of toy", "refused: both-terms", "Words per sentence"):
        assert said in page
    assert "/somewhere" not in page
    release = read_run(folder).result.signature.release
    assert release.title == f"the pairs “{tmp_path.name}”"
    assert release.short_name.startswith("pairs-")
