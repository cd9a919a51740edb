"""Names of people, by a spaCy model of one invented name."""

from __future__ import annotations

from pathlib import Path

import pytest

from holisticbias_eval.collect.page_sentences import person_finder
from holisticbias_eval.errors import CollectError
from small_wiki import DATA, run

GROUPS = (DATA / "collection.yaml").read_text("utf-8")


def make_model(folder: Path, name: str) -> str:
    """Save a model that knows one name."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": name}])
    pipeline.to_disk(folder)
    return str(folder)


def test_a_mention_overlaps_the_name_of_a_person(tmp_path: Path) -> None:
    is_person = person_finder(make_model(tmp_path / "model", "Vell Ambro"))
    assert is_person("Today Vell Ambro sang.", "Vell Ambro")
    assert not is_person("Today Vell Osk sang.", "Vell Osk")


def test_groups_that_need_a_person_lose_the_other_sentences(tmp_path: Path) -> None:
    model = make_model(tmp_path / "model", "Dr. Vell Ambro")
    made, found = run(tmp_path, (DATA / "dump.xml").read_bytes(), GROUPS, names=model)
    weavers = [row["prompt"] for row in found if row["group_id"] == "osk.weavers"]
    assert weavers == ["In 1990, Dr. Vell Ambro moved to"]
    assert made["groups"]["osk.weavers"]["left_out"]["no person's name"] == 3
    assert len(found) == 7


def test_a_model_without_people_is_refused(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "model")
    with pytest.raises(CollectError, match="it has no label PERSON or PER"):
        person_finder(str(tmp_path / "model"))
    with pytest.raises(CollectError, match="spaCy cannot load it"):
        person_finder(str(tmp_path / "none"))
