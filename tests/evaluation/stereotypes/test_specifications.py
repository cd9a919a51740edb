"""Specifications are found by id, end of an id or published name, and read from files."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tests.evaluation.stereotypes.sentences_by_hand import OWN, specification

from holisticbias.errors import UnknownVersionError
from holisticbias.source.folder import find_source
from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.stereotypes import specifications
from holisticbias_eval.stereotypes.specifications import (
    list_specifications,
    read_specification,
    read_specifications,
    refuse_stems,
    specifications_version,
)
from invoking import Invoke

PUBLISHED = {
    "name": "Blick_vs Wug.2",
    "social_groups": {
        "Blick_terms": ["he", "him", "his", "his", "Bim", "blick"],
        "Wug terms": ["she", "her", "hers", "her", "Wam"],
        "More": ["x"],
    },
    "attributes": {"Ferlic": ["ferlic"], "2nd": ["mivish"]},
    "templates": ["[T] is [A]"],
}


def test_a_specification_is_found_by_its_id_the_end_of_it_or_its_published_name() -> None:
    for name in ("stereotypes.invented-words", "invented-words"):
        assert read_specification(name).id == "stereotypes.invented-words"
    assert read_specification("Math_Arts_vs_Male_Female").id == "autobiastest.math-arts-male-female"


def test_names_of_no_or_of_several_specifications_are_refused() -> None:
    with pytest.raises(SpecificationError, match="the end of several ids"):
        read_specification("names")
    for name in ("", "*", "x" * 5000):
        with pytest.raises(SpecificationError, match="there is no specification") as caught:
            read_specification(name)
        assert len(str(caught.value)) < 400


def test_specifications_are_those_of_a_version(invoke: Invoke) -> None:
    assert list_specifications("2.0.0") == ()
    said = invoke.printed("stereotypes", "specifications", "--release", "2.0.0")
    assert said == "This version has no bias specifications.\n"
    assert len(list_specifications("3.0.0")) == len(list_specifications())
    with pytest.raises(SpecificationError):
        read_specification("invented-words", "2.0.0")
    with pytest.raises(UnknownVersionError):
        list_specifications("9.9.9")


def test_retired_specifications_are_those_of_old_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = (specification(), specification(id="own.old", until="3.1.0"))
    catalog = SimpleNamespace(specifications=[SimpleNamespace(specifications=entries)])
    catalog.at = lambda version: catalog
    monkeypatch.setattr(specifications, "load_catalog", lambda: catalog)
    assert list_specifications() == entries[:1]
    assert list_specifications("3.0.0") == entries


def test_the_version_of_specifications_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, unknown = "stereotypes.invented-words", "own.words"
    newest = specifications_version({ours: None})
    assert (find_source() / "releases" / f"{newest}.yaml").is_file()
    assert specifications_version({ours: None, unknown: None}) == f"{newest}, but for {unknown}"
    assert specifications_version({unknown: None}) == "not of the dataset"
    monkeypatch.setattr(specifications, "find_source", lambda: read_specification("none"))
    assert specifications_version({ours: None}) == "not known: the dataset cannot be read"


def test_a_file_of_the_dataset_is_a_file_of_specifications() -> None:
    file = find_source() / "specifications" / "stereotypes.yaml"
    assert read_specifications([str(file)]) == read_specifications([one.id for one in read_specifications([str(file)])])


def test_descriptors_become_their_texts() -> None:
    slots = read_specification("stereotypes.age-and-leisure", "3.0.0").slots
    assert slots[0].terms == ("twenty-five-year-old", "sixty-five-year-old")
    assert slots[0].descriptors == ("age.twenty-five-year-old", "age.sixty-five-year-old")


def test_a_file_may_leave_out_what_only_the_dataset_needs(tmp_path: Path) -> None:
    needed = {key: OWN[key] for key in ("groups", "slots", "attributes")}
    (tmp_path / "My Own.yaml").write_text(yaml.safe_dump(needed), "utf-8")
    found = read_specification(str(tmp_path / "My Own.yaml"))
    assert (found.id, found.text, found.slots[0].terms) == ("own.my-own", "My Own", ("blicket", "wug"))


def test_the_published_form(tmp_path: Path) -> None:
    path = tmp_path / "biases.json"
    path.write_text(json.dumps([PUBLISHED]), "utf-8")
    found = read_specification(str(path))
    assert (found.id, found.published_as) == ("published.blick-vs-wug-2", "Blick_vs Wug.2")
    assert [(g.name, g.stereotype, g.gender) for g in found.groups] == [
        ("blick_terms", "ferlic", "male"),
        ("wug_terms", "x_2nd", "female"),
    ]
    assert [(slot.form, slot.terms) for slot in found.slots] == [
        ("subject", ("he", "she")),
        ("object", ("him", "her")),
        ("possessive", ("his", "hers")),
        ("determiner", ("his", "her")),
        ("name", ("Bim", "Wam")),
        ("noun", ("blick", None)),
    ]
    path.write_text(json.dumps([PUBLISHED, {**PUBLISHED, "templates": []}]), "utf-8")
    with pytest.raises(SpecificationError, match="two specifications that differ have the id"):
        read_specifications([str(path)])
    path.write_text(json.dumps([PUBLISHED, {**PUBLISHED, "name": "More"}]), "utf-8")
    assert len(read_specifications([str(path), str(path)])) == 2
    with pytest.raises(SpecificationError, match="holds 2 specifications"):
        read_specification(str(path))


def test_names_in_other_scripts_have_ids_of_their_own(tmp_path: Path) -> None:
    groups = {"Женщины": ["blick"], "Мужчины": ["wug"]}
    attributes = {"科学": ["ferlic"], "艺术": ["mivish"]}
    published = [{"name": name, "social_groups": groups, "attributes": attributes} for name in ("Наука", "Искусство")]
    (tmp_path / "a.json").write_text(json.dumps(published), "utf-8")
    needed = {key: OWN[key] for key in ("groups", "slots", "attributes")}
    own = [tmp_path / name for name in ("职业.yaml", "爱好.yaml", "职业 2.yaml", "Café.yaml", "Cafe\u0301.yaml")]
    for path in own:
        path.write_text(yaml.safe_dump(needed), "utf-8")
    found = read_specifications(map(str, (tmp_path / "a.json", *own[:4])))
    assert len({specification.id for specification in found}) == 6
    assert found[0].id == read_specifications([str(tmp_path / "a.json")])[0].id
    assert len({group.name for group in found[0].groups}) == len({chosen.name for chosen in found[0].attributes}) == 2
    assert found[5].id == read_specification(str(own[4])).id


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "groups: [", "a.yaml:"),
        ("a.yaml", "[]", "not a mapping"),
        ("a.yaml", "groups: []\nslots: []\nattributes: []\n", "groups"),
        ("a.json", "{", "not JSON"),
        ("a.json", "[]", "has no specifications"),
        ("a.json", '{"name": "a", "social_groups": {"a": ["x"]}, "attributes": {}}', "two lists"),
        ("a.json", "[" * 100_000, "not JSON"),
        (
            "a.yaml",
            yaml.safe_dump({**OWN, "slots": [{"descriptors": ["age.old", "age.none"]}]}),
            "descriptor age.none in",
        ),
        ("none.json", None, "cannot be read"),
        ("none.yaml", None, "cannot be read"),
    ],
)
def test_unusable_files(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(SpecificationError, match=message) as caught:
        read_specification(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_sentences_are_not_made_with_stems() -> None:
    with pytest.raises(SpecificationError, match=r"multilateral\.race: no sentence can be made with the attribute"):
        refuse_stems(read_specifications(["groups.race", "multilateral.race"]))


@pytest.mark.parametrize(("terms", "shown"), [("[left]", "1 term for 2 groups"), ("[a, b, c]", "3 terms for 2 groups")])
def test_every_slot_of_a_file_has_a_term_for_each_group(tmp_path: Path, terms: str, shown: str) -> None:
    """Whatever reads a specification can align its slots."""
    groups = "groups: [{name: a, label: A}, {name: b, label: B}]\n"
    attributes = "attributes: [{name: x, label: X, terms: [y]}]\n"
    (tmp_path / "own.yaml").write_text(f"{groups}slots: [{{form: noun, terms: {terms}}}]\n{attributes}", "utf-8")
    with pytest.raises(SpecificationError, match=f"own.own: slot 1 has {shown}: write one term a group"):
        read_specification(str(tmp_path / "own.yaml"))


@pytest.mark.parametrize("name", ["multilateral.race", "groups.race"])
def test_a_group_is_listed_with_the_number_of_its_own_terms(invoke: Invoke, name: str) -> None:
    """Slots in which a group has no term do not count; slots of descriptors do."""
    lines = invoke.printed("stereotypes", "specifications").splitlines()
    race = read_specification(name)
    own = [sum(slot.terms[i] is not None for slot in race.slots) for i in range(len(race.groups))]
    listed = lines[lines.index(f"{race.id}: {race.text}") + 1 :][: len(own)]
    assert [line.split(": ")[1] for line in listed] == [f"{count} terms" for count in own]
    assert (min(own) < len(race.slots)) == (name == "multilateral.race")
