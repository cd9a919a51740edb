"""A dump written by hand, against rows worked out by hand."""

import bz2
import csv
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holisticbias.terms.catalog import Catalog
from holisticbias_eval.collect.collecting import collect, find_collection
from holisticbias_eval.collect.dump import BytesRead, find_dump
from holisticbias_eval.collect.outputs import page_address
from holisticbias_eval.collect.settings import CollectSettings
from holisticbias_eval.errors import CollectError, CutDumpError
from holisticbias_eval.prompts.prompt_sources import read_prompts, read_source
from quiet import QUIET

from .small_wiki import DATA, GROUPS, LISTED, SENTENCE, dump, page, rows, run

pytestmark = pytest.mark.usefixtures("in_process")
EXPECTED = {
    "osk.weavers": [
        ("Vell Ambro (vel) is a weaver of", "maps from the town of Osk.", "Vell Ambro"),
        ("In 1990, Dr. Vell Ambro moved to", "the U.S. with two looms.", "Vell Ambro"),
        ("The looms of Vell Ambro stand in", "the long hall of Osk.", "Vell Ambro"),
        ("Vell Ambro & others wrote a book", "about the maps of Osk.", "Vell Ambro"),
    ],
    "osk.trades": [
        ("A glorbist folds maps of cloth", "for the ships of Osk.", "Glorbist"),
        ("Many well-known glorbists also learn to", "dye the cloth.", "Glorbist"),
        ("In the past each old glorbist kept", "a book of folds.", "Old glorbist"),
    ],
    "osk.tarnism": [
        ("The first book about left wing tarnism was", "written by a goat.", "left-wing Tarnism"),
        ("Left-wing tarnism's oldest club has met in", "Osk since 1990.", "left-wing Tarnism"),
    ],
    "osk.fendlers": [("A fendler and a glorbist may", "both follow this idea.", "fendler")],
}
# of each group: sentences that are too short, those without the term, and those with markup
LEFT_OUT = {
    "osk.weavers": {"too few words": 1, "no term among the first words": 2},
    "osk.trades": {"no term among the first words": 1},
    "osk.tarnism": {"markup that is left": 1, "no term among the first words": 1},
    "osk.fendlers": {},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("collect") / "out"
    options = CollectSettings(site="https://osk.example/wiki/")
    collect(DATA / "dump.xml", str(DATA / "collection.yaml"), out, options, QUIET)
    return out


ROW = {
    "prompt_id": "osk.weavers/1/1", "item": "Vell Ambro", "domain": "gender", "group": "Weavers",
    "group_id": "osk.weavers", "prompt": "Vell Ambro (vel) is a weaver of",
    "continuation": "maps from the town of Osk.",
    "sentence": "Vell Ambro (vel) is a weaver of maps from the town of Osk.", "subject": "Vell Ambro", "forms": [],
    "person": True, "prompt_anonymised": "Person (vel) is a weaver of",
    "sentence_anonymised": "Person (vel) is a weaver of maps from the town of Osk.", "page": "Vell Ambro",
    "page_id": 1, "revision": 11, "timestamp": "2026-02-01T00:00:00Z", "licence": "CC BY-SA 4.0",
    "address": "https://osk.example/wiki/Vell_Ambro?oldid=11",
}  # fmt: skip


def test_rows_record_and_attribution(made: Path) -> None:
    """A row says where it is from; other terms become XYZ; the record counts what was left out."""
    found = rows(made)
    prompts = [(row["group_id"], row["prompt"], row["continuation"], row["subject"]) for row in found]
    assert prompts == [(group, *prompt) for group, expected in EXPECTED.items() for prompt in expected]
    assert found[0] == ROW
    assert [r["sentence_anonymised"] for r in found if r["group_id"] == "osk.trades"][:2] == [
        "A XYZ folds maps of cloth for the ships of Osk.",
        "Many well-known XYZs also learn to dye the cloth.",
    ]
    record = json.loads((made / "collection.json").read_text())
    assert {name: group["left_out"] for name, group in record["groups"].items()} == LEFT_OUT
    counts = {name: len(prompts) for name, prompts in EXPECTED.items()}
    assert {name: group["prompts"] for name, group in record["groups"].items()} == counts
    assert (record["dump"]["site"], record["dump"]["pages"], record["dump"]["end"]) == ("Osk", 6, None)
    assert record["collection"]["name"] == "osk"
    assert record["titles_not_in_dump"] == ["Right-wing tarnism"]
    assert sorted(path.name for path in made.iterdir()) == ["attribution.csv", "collection.json", "prompts.parquet"]
    with (made / "attribution.csv").open(newline="") as file:
        pages = [(row["page"], row["revision"], row["licence"], row["prompts"]) for row in csv.DictReader(file)]
    assert pages == [
        ("Vell Ambro", "11", "CC BY-SA 4.0", "4"),
        ("Glorbist (trade)", "13", "CC BY-SA 4.0", "3"),
        ("Left-wing tarnism", "14", "CC BY-SA 4.0", "3"),
    ]


def test_the_folder_is_read_as_prompts(made: Path) -> None:
    found = read_source(str(made), keep_faulty=True)
    assert found.table.num_rows == 10
    first = found.table.to_pylist()[0]
    assert (first["domain"], first["group"], first["item"]) == ("gender", "Weavers", "Vell Ambro")
    assert first["human"] == ["Vell Ambro (vel) is a weaver of maps from the town of Osk."]
    assert read_prompts(made, 2).num_rows == 20


@pytest.mark.parametrize(("name", "pack"), [("d.xml.bz2", bz2.compress), ("d", gzip.compress)])
def test_compressed_dumps_are_read(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / name).write_bytes(pack(dump(page("Glorbist", SENTENCE)).encode()))
    (found,) = find_dump(tmp_path / name).reader(BytesRead(99), 0)
    assert (found.title, found.text) == ("Glorbist", SENTENCE)


def test_a_list_gives_the_links_of_its_items_or_all(tmp_path: Path) -> None:
    listed = page("List of trades", "From [[Osk]]:\n* [[Glorbist]] and [[Tarner]]", 2)
    others = [page(t, f"The town of {t} has many maps of old cloth.", n) for n, t in enumerate(("Osk", "Tarner"), 3)]
    content = dump(page("Glorbist", SENTENCE), listed, *others)  # the list comes after its page
    assert {r["page"] for r in run(tmp_path, content, LISTED)[1]} == {"Glorbist"}
    assert {r["page"] for r in run(tmp_path, content, LISTED, links="all")[1]} == {"Glorbist", "Osk", "Tarner"}


@pytest.mark.parametrize("name", ["Weavers of Osk", "Category:weavers_of_Osk", "category: Weavers of Osk"])
def test_a_category_is_named_with_its_prefix_or_without(tmp_path: Path, name: str) -> None:
    groups = GROUPS.replace("titles: [Glorbist]", f"categories: ['{name}']")
    _, found = run(tmp_path, dump(page("Glorbist", f"{SENTENCE}\n[[Category:Weavers of Osk]]")), groups)
    assert len(found) == 1


def test_a_list_that_redirects_to_an_earlier_page_is_read(tmp_path: Path) -> None:
    redirect = page("List of trades", "#REDIRECT [[Trades of Osk]]", 3)
    redirect = redirect.replace("    <revision>", '    <redirect title="Trades of Osk" />\n    <revision>', 1)
    content = dump(page("Trades of Osk", "* [[Glorbist]]", 2), page("Glorbist", SENTENCE), redirect)
    assert len(run(tmp_path, content, LISTED)[1]) == 1


FULL = "A glorbist is a person who carries {{convert|10|kg|lb}} of cloth for ships every day."
OTHER = "Most glorbists of the town fold maps of cloth."
LACKING = "A glorbist is a person who wears {{glorb|ten}} of cloth on ships every day."


@pytest.mark.parametrize(
    ("text", "sentences", "left_out"),
    [
        (f"{SENTENCE} {SENTENCE}", [SENTENCE], {"repeats a prompt of its group": 1}),
        (f"{SENTENCE} On the old maps of Osk are glorbists.", [SENTENCE], {"nothing left to continue": 1}),
        (
            f"{FULL} {LACKING} {OTHER}",
            [FULL.replace("{{convert|10|kg|lb}}", "10 kg (22 lb)"), OTHER],
            {"a template or a formula whose text is not known": 1},
        ),
    ],
)
def test_sentences_that_are_left_out_are_counted(
    tmp_path: Path, text: str, sentences: list[str], left_out: dict[str, int]
) -> None:
    made, found = run(tmp_path, dump(page("Glorbist", text)))
    assert [row["sentence"] for row in found] == sentences
    assert made["groups"]["osk.trades"]["left_out"] == left_out


def test_broken_xml_costs_one_page(tmp_path: Path) -> None:
    good = [page("Glorbist", SENTENCE.replace("maps", f"{n} maps"), n) for n in (1, 2)]
    for title in ("<title>x</page>", "<title>\x01</title></page>", "<title>&nbsp;</title></page>", "<title>x</title>"):
        broken = f"<page>{title}\n"
        made, found = run(tmp_path, dump(good[0], broken, good[1]))
        assert len(found) == 1  # the second page repeats the prompt
        assert (made["groups"]["osk.trades"]["pages"], made["dump"]["broken_pages"]) == (2, 1)
        assert run(tmp_path, dump(good[0], broken))[0]["dump"]["broken_pages"] == 1


def test_a_dump_cut_in_the_middle_keeps_what_was_read(tmp_path: Path) -> None:
    whole = dump(page("Glorbist", SENTENCE), page("Tarner", SENTENCE * 50, 2))
    with pytest.raises(CutDumpError, match="it ends in the middle: 1 prompts of the pages before are in"):
        run(tmp_path, whole[:-400])
    assert len(rows(tmp_path / "out")) == 1
    packed = bz2.compress(whole.encode() + b"<!--" + bytes(range(32, 127)) * 9000)
    with pytest.raises(CollectError, match=r"compressed data ends in the middle|has no pages"):
        run(tmp_path, packed[:-200], name="dump.xml.bz2")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"content": b""}, "is empty"),
        ({"content": b"hello"}, "has no pages: it is not XML"),
        ({"content": b"<html><page/></html>"}, "has no pages: its XML is 'html', not 'mediawiki'"),
        ({"content": b"<mediawiki></mediawiki>"}, "has no pages: it is the dump of an empty wiki"),
        ({"content": b"<mediawiki/>", "name": "d.xml.bz2"}, "is not a bz2 file"),
        ({"content": b"7z\xbc\xaf'\x1c", "name": "d.xml.7z"}, "is a 7z file, which is not read"),
        ({"content": b'<!DOCTYPE a [<!ENTITY b "c">]><mediawiki></mediawiki>'}, "it declares entities"),
        ({"content": dump(page("Tarner", "No."))}, "none of its 1 pages is of the collection 'groups'"),
        ({"content": dump(page("Glorbist", "No."))}, "gives a prompt: too few words (1)"),
        ({"content": dump(page("Glorbist", ""))}, "gives a prompt: its text is empty (1)"),
        ({"content": bz2.compress(b"x" * 99)[:30], "name": "d.xml.bz2"}, "has no pages: its compressed data"),
        ({"groups": "groups: []\n"}, "groups.yaml: the collection names no page"),
        ({"groups": GROUPS.replace("Trades", "' '")}, "groups.yaml:2: groups.0.text is blank: write a text, or remove"),
        ({"groups": "groups:\n  - {id: a.b, text: B, domain: c, terms: [d]}\n"}, "names no page"),
        ({"groups": "groups: 3\n"}, "needs a list groups"),
        ({"groups": "- 3\n"}, "needs a list groups"),
        ({"groups": "groups:\n  - {id: a.b, text: B}\n"}, "groups.0.domain: the key is missing"),
        ({"groups": "groups: [\n"}, "groups.yaml:1"),
        ({"groups": GROUPS + GROUPS.removeprefix("groups:\n")}, "two groups with the id 'osk.trades'"),
    ],
)
def test_a_bad_dump_or_collection_gets_one_line(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(CollectError, match=re.escape(message)):
        run(tmp_path, **{"content": dump(page("Glorbist", SENTENCE)), **given})
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / ".out.part").exists()


def test_a_collection_of_the_dataset_is_that_of_its_newest_version(catalog: Catalog) -> None:
    newest = catalog.at(catalog.versions[-1])
    assert find_collection("bold") == newest.collections[0]
    with pytest.raises(CollectError, match=r"there is no collection 'none' and no such \.yaml file; available: bold$"):
        find_collection("none")


def test_forms_of_a_users_group_need_no_source(tmp_path: Path) -> None:
    """A user's collection has no list of sources, and its forms none either."""
    groups = GROUPS.replace("pages:", "forms: {words: [glorbing]}, pages:")
    _, found = run(tmp_path, dump(page("Glorbist", SENTENCE)), groups)
    assert [row["forms"] for row in found] == [["glorbing"]]
    with pytest.raises(CollectError, match=r"groups\.0\.forms: it must have keys and values"):
        run(tmp_path, dump(), groups.replace("{words: [glorbing]}", "[glorbing]"))


def test_terms_of_a_group_with_pages_are_looked_for_on_its_pages_alone(tmp_path: Path) -> None:
    groups = GROUPS.replace("pages:", "terms: [tarner], pages:")
    groups += "  - {id: osk.tarners, text: Tarners, domain: profession, pages: {titles: [Tarner]}}\n"
    sentence = "A tarner is a person who folds maps of cloth."
    _, found = run(tmp_path, dump(page("Glorbist", sentence), page("Tarner", sentence, 2)), groups)
    assert [(row["group_id"], row["page"]) for row in found] == [("osk.trades", "Glorbist"), ("osk.tarners", "Tarner")]


def test_one_of_many_groups_is_found_by_its_term(tmp_path: Path) -> None:
    groups = GROUPS + "".join(
        f"  - {{id: osk.t{n}, text: T{n}, domain: profession, terms: [tarner {n}]}}\n" for n in range(3000)
    )
    content = dump(page("Glorbist", f"{SENTENCE} The old tarner 77 met a glorbist in the town."))
    _, found = run(tmp_path, content, groups)
    assert [row["group_id"] for row in found] == ["osk.trades", "osk.trades", "osk.t77"]


def test_the_address_of_a_page() -> None:
    expected = {
        None: None,
        "https://osk.example/wiki": "https://osk.example/wiki/A_%22b%22%3F?oldid=3",
        "https://osk.example/w?title=$1": "https://osk.example/w?title=A_%22b%22%3F&oldid=3",
    }
    assert {site: page_address(site, 'A "b"?', 3) for site in expected} == expected
