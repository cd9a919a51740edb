"""Collections, prompts and specifications in a version: tables, digest, lock, difference, and what show prints."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from holisticbias import build_release, open_release, write_release
from holisticbias.compile.tables import COMPANIONS
from holisticbias.contribute.diff import compare
from holisticbias.contribute.readings import show_entries
from holisticbias.contribute.revisions import Revision
from holisticbias.release.verify import verify_release
from holisticbias.rules.published import lock
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment
from holisticbias.terms.prompt_entries import Forms, Group, PromptWording
from holisticbias.terms.specification_entries import (
    AttributeSet,
    Slot,
    SpecificationWording,
    TargetGroup,
    WordForms,
)

VERSION = "0.2.0"
COMMON = "    sources: [made-up]\n    since: 0.2.0\n"
FILES = {
    "collections": "collection: trades\nlabel: Trades\ngroups:\n"
    "  - id: trades.glaziers\n    text: Glaziers\n    domain: glass\n    pages:\n      titles: [Glazier]\n" + COMMON,
    "prompts": "domain: glass\nlabel: Glass\ncollection: trades\nprompts:\n"
    "  - id: glass.one\n    text: In most workshops a glazier\n    group: trades.glaziers\n"
    "    continuation: cuts the pane.\n    subject: glazier\n" + COMMON,
    "specifications": "family: toy\nlabel: Toy\nspecifications:\n"
    "  - id: toy.small\n    text: Small things\n    groups:\n"
    "      - {name: stads, label: Stads, stereotype: small}\n      - {name: blickets, label: Blickets}\n"
    "    slots:\n      - {form: noun, terms: [stad, blicket]}\n      - {form: plural, terms: [stads, blickets]}\n"
    "    attributes:\n      - {name: small, label: Small, terms: [pebble]}\n"
    '    templates: ["The [T:noun] has a [A]."]\n    control: true\n' + COMMON,
}


@pytest.fixture
def companions(terms: Path, tmp_path: Path) -> Catalog:
    """The catalog of a few terms with a group, a prompt and a specification, in layout 4."""
    folder = tmp_path / "terms"
    shutil.copytree(terms, folder)
    for kind, text in FILES.items():
        (folder / kind).mkdir()
        (folder / kind / "file.yaml").write_text(text, "utf-8")
    release = folder / "releases" / f"{VERSION}.yaml"
    release.write_text(release.read_text("utf-8") + "layout: 4\n", "utf-8")
    return load_catalog(folder)


def changed_prompt(catalog: Catalog, **keys: object) -> Catalog:
    file = catalog.prompts[0]
    return replace(catalog, prompts=(file.model_copy(update={"prompts": (file.prompts[0].model_copy(update=keys),)}),))


def changed_specification(catalog: Catalog, **keys: object) -> Catalog:
    file = catalog.specifications[0]
    entry = file.specifications[0].model_copy(update=keys)
    return replace(catalog, specifications=(file.model_copy(update={"specifications": (entry,)}),))


def test_tables_survive_writing(companions: Catalog, tmp_path: Path) -> None:
    built = build_release(companions, VERSION)
    write_release(built, tmp_path / "release")
    assert verify_release(tmp_path / "release") == ()
    opened = open_release(tmp_path / "release")
    for name in COMPANIONS:
        assert opened.tables[name].equals(built.tables[name])


def with_forms(catalog: Catalog, since: str | None = None, layout: int = 5) -> Catalog:
    """The catalog whose group has forms, in a layout."""
    file = catalog.collections[0]
    forms = Forms(words=("glazier", "glazing"), sources=("made-up",), since=since)
    made = file.model_copy(update={"groups": (file.groups[0].model_copy(update={"forms": forms}),)})
    releases = tuple(r.model_copy(update={"layout": layout}) for r in catalog.releases)
    return replace(catalog, collections=(made,), releases=releases)


def test_forms_are_in_the_table_from_layout_5_on(companions: Catalog, tmp_path: Path) -> None:
    built = build_release(with_forms(companions), VERSION)
    assert built.tables["collections"].select(["group_id", "terms", "forms", "titles"]).to_pylist() == [
        {"group_id": "trades.glaziers", "terms": [], "forms": ["glazier", "glazing"], "titles": ["Glazier"]}
    ]
    write_release(built, tmp_path / "release")
    assert verify_release(tmp_path / "release") == ()
    assert "forms" not in build_release(with_forms(companions, layout=4), VERSION).tables["collections"].column_names


def test_forms_are_held_from_their_own_version_on(companions: Catalog) -> None:
    """A version that is older than the forms has the same lock and the same tables as without them."""
    group = with_forms(companions, "0.2.0").collections[0].groups[0].model_copy(update={"since": "0.1.0"})
    assert isinstance(group, Group)
    assert group.at("0.1.0").forms is None
    assert group.at(VERSION).forms is not None
    newer = with_forms(companions, "0.3.0", 4)
    assert lock(newer, VERSION) == lock(companions, VERSION)
    assert build_release(newer, VERSION).digest == build_release(companions, VERSION).digest


def test_new_forms_are_a_patch(companions: Catalog) -> None:
    old, new = (Revision(VERSION, c, VERSION) for c in (companions, with_forms(companions, layout=4)))
    assert (compare(old, new).bump, [e.id for e in compare(old, new).entries]) == ("patch", ["trades.glaziers"])
    assert "  forms that measures replace: glazier, glazing; sources: made-up" in show_entries(
        new.catalog, "glaziers", None, None
    )


def test_an_earlier_wording_stands_in_its_version(companions: Catalog) -> None:
    wording = PromptWording(until="0.2.0", reason="An example.", continuation="cut it.", subject=None)
    prompt = changed_prompt(companions, since="0.1.0", history=(wording,)).prompts[0].prompts[0]
    then = prompt.at("0.1.0")
    assert (then.continuation, then.subject, then.sentence) == ("cut it.", None, "In most workshops a glazier cut it.")
    assert prompt.at("0.2.0").subject == "glazier"


def test_the_lock_sees_every_change(companions: Catalog) -> None:
    before = lock(companions, VERSION).entries
    after = lock(changed_prompt(companions, subject=None), VERSION).entries
    assert {key for key in before if before[key] != after[key]} == {"glass.one"}
    file = companions.collections[0].model_copy(update={"prompt_words": 6})
    after = lock(replace(companions, collections=(file,)), VERSION).entries
    assert {key for key in before if before[key] != after[key]} == {"collections/trades"}


def test_added_entries_need_a_minor_version_and_judgements_a_patch(companions: Catalog) -> None:
    old, new = Revision(VERSION, replace(companions, prompts=()), VERSION), Revision(VERSION, companions, VERSION)
    found = compare(old, new)
    assert (found.bump, [(e.id, e.change) for e in found.entries]) == ("minor", [("glass.one", "added")])
    assert [(c.name, c.added, c.changed, c.gone) for c in found.companions] == [("prompts", 1, 0, 0)]
    judgement = Assessment(judgement="accepted", reviewer="rv-1", date="2026")
    judged = changed_specification(companions, assessments=(judgement,))
    found = compare(new, Revision(VERSION, judged, VERSION))
    assert (found.bump, [e.change for e in found.entries]) == ("patch", ["reassessed"])


def test_show(companions: Catalog) -> None:
    assert show_entries(companions, "toy.small", None, None).split("\n") == [
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
    assert "  titles: Glazier" in show_entries(companions, "glaziers", None, None)
    assert "  continuation: cuts the pane." in show_entries(companions, "glass.one", None, None)


def test_word_forms(companions: Catalog) -> None:
    """From layout 5 on a release has a row for each; a version before their own does not have them."""
    forms = (
        WordForms(of="stad", words=("stadder", "stadling")),
        WordForms(group="blickets", words=("blicketness",)),
        WordForms(group="stads", words=("stadness",), since="0.9.0"),
    )
    slots = tuple(Slot(form=form, terms=("stad", "blicket")) for form in ("noun", "object"))  # the first one counts
    catalog = changed_specification(companions, slots=slots, forms=forms)
    made = catalog.specifications[0].specifications[0]
    columns = ["part", "name", "slot", "form", "term"]
    rows = {}
    for layout in (4, 5):
        releases = tuple(r.model_copy(update={"layout": layout}) for r in catalog.releases)
        table = build_release(replace(catalog, releases=releases), VERSION).tables["specifications"]
        rows[layout] = [tuple(row.values()) for row in table.select(columns).to_pylist() if row["part"] == "word_form"]
    assert rows[4] == []
    assert rows[5] == [
        ("word_form", "stads", 0, "noun", "stadder"),
        ("word_form", "stads", 0, "noun", "stadling"),
        ("word_form", "blickets", None, None, "blicketness"),
    ]
    assert [len(made.at(version).forms) for version in ("0.1.0", "0.9.0")] == [2, 3]
    shown = show_entries(catalog, "toy.small", None, None).split("\n")
    assert "  also found (stad): stadder, stadling" in shown
    assert "  also found (Blickets, not rewritten): blicketness" in shown
    old = Revision(VERSION, changed_specification(catalog, forms=()), VERSION)
    assert compare(old, Revision(VERSION, catalog, VERSION)).bump != "major"


def test_valence_and_opposites_of_many_groups(companions: Catalog) -> None:
    attributes = (
        AttributeSet(name="small", label="Small", terms=("pebb*",), valence="negative"),
        AttributeSet(name="large", label="Large", terms=("tower",), valence="positive"),
    )
    toy = companions.specifications[0].specifications[0]
    groups = (*toy.groups, TargetGroup(name="fitches", label="Fitches", held_out=True))
    slots = (Slot(form="noun", terms=("stad", "blicket", None)),)
    opposites = (("pebb*", "tower"),)
    catalog = changed_specification(
        companions, groups=groups, slots=slots, attributes=attributes, opposites=opposites, templates=()
    )
    made = catalog.specifications[0].specifications[0]
    shown = show_entries(catalog, "toy.small", None, None).split("\n")
    assert shown[-5:] == [
        "  held out    -      -         yes",
        "",
        "  small (Small; negative): pebb*",
        "  large (Large; positive): tower",
        "  opposites: pebb* / tower",
    ]
    old, new = (Revision(VERSION, c, VERSION) for c in (companions, catalog))
    assert compare(old, new).bump == "major"
    wording = SpecificationWording(until="0.2.0", reason="An example.", opposites=())
    assert made.model_copy(update={"since": "0.1.0", "history": (wording,)}).at("0.1.0").opposites == ()
