"""Collections, prompts and specifications in a version: tables, digest, lock, difference, and what show prints."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from holisticbias import build_release, open_release, write_release
from holisticbias.contribute.diff import Difference, compare
from holisticbias.contribute.readings import show_entries
from holisticbias.contribute.revisions import Revision
from holisticbias.release.verify import verify_release
from holisticbias.rules.published import lock
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Entry
from holisticbias.terms.file_kinds import COMPANIONS
from holisticbias.terms.prompt_entries import Forms
from holisticbias.terms.specification_entries import AttributeSet, Slot, TargetGroup, WordForms
from small_terms import entry_of, with_layout

VERSION = "0.2.0"


@pytest.fixture
def companions(data: Path, tmp_path: Path) -> Catalog:
    """The catalog of a few terms with a group, a prompt and a specification, in layout 4."""
    for name in ("two-versions", "companions"):
        shutil.copytree(data / name, tmp_path / "terms", dirs_exist_ok=True)
    return load_catalog(tmp_path / "terms")


def with_keys(catalog: Catalog, entry_id: str, **keys: object) -> Catalog:
    """The catalog with other values of keys of one entry."""

    def changed(entry: Entry) -> Entry:
        made = {**entry.model_dump(exclude_unset=True), **keys}
        return type(entry).model_validate(made) if entry.id == entry_id else entry

    return catalog.changed(changed)


def with_forms(catalog: Catalog, since: str | None = None) -> Catalog:
    """The catalog whose group has forms."""
    forms = Forms(words=("glazier", "glazing"), sources=("made-up",), since=since)
    return with_keys(catalog, "trades.glaziers", forms=forms)


def compared(old: Catalog, new: Catalog) -> Difference:
    return compare(Revision(VERSION, old, VERSION), Revision(VERSION, new, VERSION))


def shown(catalog: Catalog, name: str) -> list[str]:
    return show_entries(catalog, name, None, None).split("\n")


def test_tables_survive_writing(companions: Catalog, tmp_path: Path) -> None:
    """Forms are in the table from layout 5 on."""
    built = build_release(with_layout(with_forms(companions), 5), VERSION)
    write_release(built, tmp_path / "release")
    assert verify_release(tmp_path / "release") == ()
    opened = open_release(tmp_path / "release")
    for name in COMPANIONS:
        assert opened.tables[name].equals(built.tables[name])
    assert built.tables["collections"].select(["group_id", "terms", "forms", "titles"]).to_pylist() == [
        {"group_id": "trades.glaziers", "terms": [], "forms": ["glazier", "glazing"], "titles": ["Glazier"]}
    ]
    assert "forms" not in build_release(with_forms(companions), VERSION).tables["collections"].column_names


def test_forms_are_held_from_their_own_version_on(companions: Catalog) -> None:
    """A version that is older than the forms has the same lock and the same tables as without them."""
    group = entry_of(with_forms(companions, "0.2.0"), "trades.glaziers").model_copy(update={"since": "0.1.0"})
    assert [group.at(version).forms is None for version in ("0.1.0", VERSION)] == [True, False]
    newer = with_forms(companions, "0.3.0")
    assert lock(newer, VERSION) == lock(companions, VERSION)
    assert build_release(newer, VERSION).digest == build_release(companions, VERSION).digest


def test_an_earlier_wording_stands_in_its_version(companions: Catalog) -> None:
    wording = {"until": "0.2.0", "reason": "An example.", "continuation": "cut it.", "subject": None}
    prompt = entry_of(with_keys(companions, "glass.one", since="0.1.0", history=(wording,)), "glass.one")
    then = prompt.at("0.1.0")
    assert (then.continuation, then.subject, then.sentence) == ("cut it.", None, "In most workshops a glazier cut it.")
    assert prompt.at("0.2.0").subject == "glazier"


def test_the_lock_sees_every_change(companions: Catalog) -> None:
    before = lock(companions, VERSION).entries
    file = companions.collections[0].model_copy(update={"prompt_words": 6})
    for changed, key in (
        (with_keys(companions, "glass.one", subject=None), "glass.one"),
        (replace(companions, collections=(file,)), "collections/trades"),
    ):
        after = lock(changed, VERSION).entries
        assert {name for name in before if before[name] != after[name]} == {key}


def test_added_entries_need_a_minor_version_and_judgements_and_forms_a_patch(companions: Catalog) -> None:
    found = compared(replace(companions, prompts=()), companions)
    assert (found.bump, [(e.id, e.change) for e in found.entries]) == ("minor", [("glass.one", "added")])
    assert [(c.name, c.added, c.changed, c.gone) for c in found.companions] == [("prompts", 1, 0, 0)]
    judgement = Assessment(judgement="accepted", reviewer="rv-1", date="2026")
    found = compared(companions, with_keys(companions, "toy.small", assessments=(judgement,)))
    assert (found.bump, [e.change for e in found.entries]) == ("patch", ["reassessed"])
    found = compared(companions, with_forms(companions))
    assert (found.bump, [e.id for e in found.entries]) == ("patch", ["trades.glaziers"])


def test_show_prints_a_group_a_prompt_and_a_specification(companions: Catalog) -> None:
    assert shown(companions, "toy.small") == [
        "Small things  [toy.small]",
        "  Toy; since 0.2.0; sources: made-up",
        "  no_data: nobody has judged this specification yet",
        "  a control: its words are invented",
        "",
        "  form        Stads  Blickets",
        "  noun        stad   blicket",
        "  plural      stads  blickets",
        "  stereotype  small  -",
        "",
        "  small (Small): pebble",
        "",
        "  The [T:noun] has a [A].",
        "    The stad has a pebble.",
        "    The blicket has a pebble.",
    ]
    group = shown(with_forms(companions), "glaziers")
    assert {"  titles: Glazier", "  forms that measures replace: glazier, glazing; sources: made-up"} <= set(group)
    assert "  continuation: cuts the pane." in shown(companions, "glass.one")


def test_a_template_is_filled_in_as_for_measures(companions: Catalog) -> None:
    """Articles follow the terms, and the name of a form may have a digit; published sentences stay as they are."""
    slots, templates = (Slot(form="noun2", terms=("stad", "urn")),), ("a [T:noun2] sees an [A]",)
    own = with_keys(companions, "toy.small", slots=slots, templates=templates)
    assert shown(own, "toy.small")[-2:] == ["    A stad sees a pebble.", "    An urn sees a pebble."]
    published = with_keys(own, "toy.small", published_as="toy")
    assert shown(published, "toy.small")[-2:] == ["    a stad sees an pebble", "    a urn sees an pebble"]


def test_word_forms_are_rows_from_layout_5_on(companions: Catalog) -> None:
    """From layout 5 on a release has a row for each; a version before their own does not have them."""
    forms = (
        WordForms(of="stad", words=("stadder", "stadling")),
        WordForms(group="blickets", words=("blicketness",)),
        WordForms(group="stads", words=("stadness",), since="0.9.0"),
    )
    slots = tuple(Slot(form=form, terms=("stad", "blicket")) for form in ("noun", "object"))  # the first one counts
    catalog = with_keys(companions, "toy.small", slots=slots, forms=forms)
    columns = ["part", "name", "slot", "form", "term"]
    rows = {}
    for layout in (4, 5):
        table = build_release(with_layout(catalog, layout), VERSION).tables["specifications"]
        rows[layout] = [tuple(row.values()) for row in table.select(columns).to_pylist() if row["part"] == "word_form"]
    assert rows[4] == []
    assert rows[5] == [
        ("word_form", "stads", 0, "noun", "stadder"),
        ("word_form", "stads", 0, "noun", "stadling"),
        ("word_form", "blickets", None, None, "blicketness"),
    ]
    assert [len(entry_of(catalog, "toy.small").at(version).forms) for version in ("0.1.0", "0.9.0")] == [2, 3]
    lines = shown(catalog, "toy.small")
    assert "  also found (stad): stadder, stadling" in lines
    assert "  also found (Blickets, not rewritten): blicketness" in lines
    assert compared(with_keys(catalog, "toy.small", forms=()), catalog).bump != "major"


def test_valence_and_opposites_of_many_groups(companions: Catalog) -> None:
    attributes = (
        AttributeSet(name="small", label="Small", terms=("pebb*",), valence="negative"),
        AttributeSet(name="large", label="Large", terms=("tower",), valence="positive"),
    )
    groups = entry_of(companions, "toy.small").groups
    keys = {
        "groups": (*groups, TargetGroup(name="fitches", label="Fitches", held_out=True)),
        "slots": (Slot(form="noun", terms=("stad", "blicket", None)),),
        "attributes": attributes,
        "opposites": (("pebb*", "tower"),),
        "templates": (),
    }
    catalog = with_keys(companions, "toy.small", **keys)
    assert shown(catalog, "toy.small")[-5:] == [
        "  held out    -      -         yes",
        "",
        "  small (Small; negative): pebb*",
        "  large (Large; positive): tower",
        "  opposites: pebb* / tower",
    ]
    assert compared(companions, catalog).bump == "major"
    wording = {"until": "0.2.0", "reason": "An example.", "opposites": ()}
    made = entry_of(with_keys(catalog, "toy.small", since="0.1.0", history=(wording,)), "toy.small")
    assert made.at("0.1.0").opposites == ()
