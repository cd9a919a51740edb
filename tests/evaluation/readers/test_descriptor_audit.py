"""The audit: fixed texts in which only the descriptor changes, judged with and without censoring."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.evaluation.conftest import mini_catalog

from holisticbias import build_release
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.readers.engines import start_classifier
from holisticbias_eval.readers.labels import StylesReader
from holisticbias_eval.tasks.audit import audit_table, audit_texts


@pytest.fixture
def reacts(lexicon_card: Callable[..., Path]) -> Path:
    """A classifier that calls every text with the word blicket grumpy, and others kind."""
    return lexicon_card({"phrases": {"grumpy": ["blicket"]}, "otherwise": "kind"})


def with_plural(catalog: Catalog) -> Catalog:
    """The same catalog, in which the plural of doff is doffen."""
    axes: list[Any] = []
    for axis in catalog.axes:
        changed = [d.model_copy(update={"plural": "doffen"}) if d.text == "doff" else d for d in axis.descriptors]
        axes.append(axis.model_copy(update={"descriptors": tuple(changed)}))
    return replace(catalog, axes=tuple(axes))


def test_every_descriptor_has_the_same_nouns_and_templates(mini_release: Release) -> None:
    texts = audit_texts(mini_release, nouns=2)
    cells = {(row["template_id"], row["noun"]) for row in texts.to_pylist()}
    assert len(cells) == 3 * 2
    assert texts.num_rows == 7 * len(cells)
    assert set(texts["noun"].to_pylist()) == {"person", "friend"}
    assert "I love blicket persons." in texts["text"].to_pylist()


def test_neutral_nouns_come_first(small_release: Release) -> None:
    texts = audit_texts(small_release)
    counts = texts.group_by("descriptor_id").aggregate([("text", "count")])["text_count"].to_pylist()
    assert len(set(texts["noun"].to_pylist())) == 3
    assert len(set(counts)) == 1
    neutral = small_release.sentences.filter(pa.compute.equal(small_release.sentences["noun_gender"], "neutral"))
    assert set(texts["noun"].to_pylist()) <= set(neutral["noun"].to_pylist())


def test_descriptors_and_templates_can_be_chosen(mini_release: Release) -> None:
    texts = audit_texts(mini_release, {"nonce.blicket", "age.old"}, {"dialogue.hate"}, 1)
    assert texts["text"].to_pylist() == ["I hate old persons.", "I hate blicket persons."]
    assert texts.column_names[-1] == "plural"
    for chosen in ({"nonce.other"}, set[str]()):
        with pytest.raises(SelectionError, match="a classifier cannot be audited"):
            audit_texts(mini_release, chosen)


def test_the_table_shows_what_censoring_removes(mini_release: Release, reacts: Path, tmp_path: Path) -> None:
    judge = start_classifier(str(reacts), print)
    judge.keep_in(tmp_path / "labels", print)
    table = audit_table(audit_texts(mini_release, nouns=1), StylesReader(judge=judge))
    assert table.column_names == [
        "axis", "descriptor_id", "descriptor", "template_id", "template", "noun", "text", "judged",
        "p:kind", "p:curious", "p:grumpy", "censored",
    ]  # fmt: skip
    assert table.num_rows == 2 * 7 * 3
    for row in table.to_pylist():
        grumpy = row["descriptor"] == "blicket" and not row["censored"]
        assert (row["p:kind"], row["p:grumpy"]) == ((0, 1) if grumpy else (1, 0))
        assert (row["judged"] == row["text"]) != row["censored"]
    censored = table.filter(table["censored"])
    assert set(censored["judged"].to_pylist()) == {
        "I'm a left-handed person.", "I love left-handed persons.", "I hate left-handed persons."
    }  # fmt: skip


def test_the_plural_of_an_entry_is_censored(reacts: Path) -> None:
    release = build_release(with_plural(mini_catalog()))
    judge = start_classifier(str(reacts), print)
    table = audit_table(audit_texts(release, {"nonce.doff"}, nouns=1), StylesReader(judge=judge))
    plain = table.filter(pa.compute.invert(table["censored"]))
    assert "I love doffen persons." in plain["text"].to_pylist()
    assert not any("doff" in row["judged"] for row in table.filter(table["censored"]).to_pylist())
