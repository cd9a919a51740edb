"""The rule that makes a prompt of a sentence, wikitext and its templates, and names of people."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from holisticbias_eval.collect.page_sentences import person_finder
from holisticbias_eval.collect.rule import PromptRule, find_mentions, index_terms, prompt_length, sentence_fault
from holisticbias_eval.collect.templates import converted, grouped
from holisticbias_eval.collect.titles import category_keys, list_links, title_key
from holisticbias_eval.collect.wikitext import UNKNOWN, paragraphs
from holisticbias_eval.errors import CollectError

from .small_wiki import DATA, GROUPS, dump, page, run

RULE = PromptRule(prompt_words=5, term_within=8, least_words=8)


@pytest.mark.parametrize(
    ("sentence", "terms", "prompt"),
    [
        ("A flight nurse is a registered nurse of the air.", ["Flight nurse"], "A flight nurse is a registered nurse"),
        ("It was not until May 1962 that Vell Ambro sang.", ["Vell Ambro"], None),  # the name ends after word 8
        ("It wasn't until 1962 that Vell Ambro sang here.", ["Vell Ambro"], "It wasn't until 1962 that Vell Ambro"),
        ("One two three four five six glorbist eight nine.", ["glorbist"], "One two three four five six glorbist"),
        (
            "One two three four five six seven glorbist nine.",
            ["glorbist"],
            "One two three four five six seven glorbist",
        ),
        ("One two three four five six seven eight glorbist.", ["glorbist"], None),
        ("The anti-glorbist club met in the town of Osk.", ["glorbist"], None),
        ("A (GLORBIST'S) map hangs in the town of Osk.", ["glorbist"], "A (GLORBIST'S) map hangs in the"),
        (
            "Old Tam O\u2019Doff\u2019s map hangs in old Osk.",
            ["Tam O'Doff"],
            "Old Tam O\u2019Doff\u2019s map hangs in old",
        ),
        ("Old Tam O'Doff met the club in Osk.", ["Tam O\u2018Doff"], "Old Tam O'Doff met the club in"),
        ("The New Left met the Left in old Osk.", ["Left", "New Left"], "The New Left met the Left in"),
        ("Our - Left met the Left in old Osk.", ["Left", "New Left"], "Our - Left met the Left"),
        ("Our Left - met the Left in old Osk.", ["Left", "New Left"], "Our Left - met the Left"),
    ],
)
def test_prompts_of_sentences(sentence: str, terms: list[str], prompt: str | None) -> None:
    words = sentence.split()
    mention = next(find_mentions(words, index_terms(terms), RULE.term_within), None)
    assert (mention and " ".join(words[: prompt_length(mention, RULE)])) == prompt


def test_faults_of_sentences() -> None:
    expected = {
        "One two three four five six seven.": "too few words",
        "One two three four five six seven eight.": None,
        "One two three four five six seven eight": "does not end a sentence",
        "One two three four five six seven " + "e" * 2000 + ".": "more than 2,000 characters",
    }
    assert {sentence: sentence_fault(sentence.split(), RULE) for sentence in expected} == expected


def test_text_of_wikitext() -> None:
    expected = {
        "'''A''' [[b|c]] [[d]] [http://e f] {{sfn|h}}": ["A c d f"],
        "A<ref>b</ref> (; {{cn}}) d<br>e": ["A d", "e"],
        "[[File:a.jpg|thumb|b [[c]]]] d [[Category:e]] [[:Category:f]] [[fr:g]]": ["d Category:f"],
        "{|\n| a\n|}\nb\n\nc": ["b", "c"],
        "== a ==\nb &amp; c&nbsp;d\n* e\n* f\ng": ["b & c d", "e", "f", "g"],
        "a <nowiki>[[b]]</nowiki><noinclude>c</noinclude><includeonly>d</includeonly>": ["a [[b]]c"],
        "a <!-- b --> c\u202ed\x07": ["a c d"],
        "a<div>b <p>c</p> d</div>e": ["a", "b", "c", "d", "e"],
    }
    assert {
        wikitext: [" ".join(part.split()) for part in paragraphs(wikitext, {})] for wikitext in expected
    } == expected


def test_links_and_categories() -> None:
    wikitext = "See [[a]].\n* [[b|c]], [[d]]\n| [[e_f#g]] || [[h]]\n* [[File:i.jpg]] [[j]]\n"
    wikitext += "<!-- * [[k]] -->\n<nowiki>[[l]]</nowiki>"
    assert list(list_links(wikitext, {}, every=False)) == ["b", "e_f#g", "j"]
    assert list(list_links(wikitext, {}, every=True)) == ["a", "b", "d", "e_f#g", "h", "j"]
    assert list(list_links("[[a]] and [[b]]", {}, every=False)) == ["a", "b"]
    assert title_key("e_f#g") == title_key(" E  F")
    text = "[[Category:A b|x]] [[kategorie: c_D ]] [[:Category:e]] <!--[[Category:f]]-->"
    assert category_keys(text, {"kategorie": 14}) == {"a b", "c d"}


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("carries {{convert|10|kg|lb}} of cloth", "carries 10 kg (22 lb) of cloth"),
        ("{{Cvt|10|to|20|kg|lb}} a day", "10 to 20 kg (22 to 44 lb) a day"),
        ("{{convert|5|mi|order=flip}}", "8.0 km (5 mi)"),
        ("a {{nowrap|{{lang|fr|mot ''juste''}}}} b", "a mot juste b"),
        ("{{ill|Vell|de|Ambro}}, {{ill|Vell (smith)|de|Ambro|lt=Vell}}", "Vell, Vell"),
        ("the weaver{{'s}} hat{{snd}}and {{abbr|OSK|a town}}", "the weaver's hat \u2013 and OSK"),
        ("{{As of|2020|5}}; {{as of|2020|lc=y}}", "As of May 2020; as of 2020"),
        ("born {{birth date|1990|5|1}} or {{birth date|1990|5|1|df=y}}", "born May 1, 1990 or 1 May 1990"),
        ("{{circa|1900}}, {{c.|1900|1910}}", "c. 1900, c. 1900\u20131910"),
        ("{{frac|1|2}} of {{val|12345|u=kg}}, {{formatnum:12345}}", "1/2 of 12,345 kg, 12,345"),
        ("{{formatnum:many}} maps", "many maps"),
        ("{{USS|Osk|a}} for {{US$|10}}, {{transl|ar|ALA|vell}}", "USS Osk for US$10, vell"),
        ("cloth{{citation needed|date=May 2020}} of{{efn|a note}} Osk", "cloth of Osk"),
        ("It is {{glorb|a}} cloth.", f"It is {UNKNOWN} cloth."),
        ("{{glorb}} is a cloth.", f"{UNKNOWN} is a cloth."),
        ("the sum <math>a+b</math> of {{{1}}}", f"the sum {UNKNOWN} of {UNKNOWN}"),
        ("{{convert|ten|kg}}, {{convert|1|glorb}}, {{lang|fr}}, {{circa}}, {{frac|a}}", ", ".join([UNKNOWN] * 5)),
        ("{{convert|1|kg|disp=out}}, {{date|May|1}}, {{date|2000|13}}, {{convert|5|C|kg}}", ", ".join([UNKNOWN] * 4)),
        ("{{Glorb box\n|a=b}}\nIt is cloth.", "It is cloth."),
        ("{{Infobox glorb|a=b}}{{Use dmy dates}}It is cloth.", "It is cloth."),
        ("It is cloth.{{glorbnote|a}} It folds.", "It is cloth. It folds."),
        ("Mr.{{glorb}} folds.", f"Mr.{UNKNOWN} folds."),
    ],
)
def test_text_of_templates(wikitext: str, text: str) -> None:
    assert paragraphs(wikitext, {}) == [text]


def test_converted_quantities() -> None:
    expected = {
        # as English Wikipedia shows them
        "100 km mi": "100 km (62 mi)",
        "5 ft m": "5 ft (1.5 m)",
        "1,500 m ft": "1,500 m (4,900 ft)",
        "2.5 acre ha": "2.5 acres (1.0 ha)",
        "20 C F": "20 °C (68 °F)",
        "10 kg lb 1": "10 kg (22.0 lb)",
        "0 kg lb": "0 kg (0 lb)",
        **dict.fromkeys(("10 kg mi", "10 kg lb x", "1e5 kg", "")),
    }
    assert {values: converted(values.split()) for values in expected} == expected


def test_grouped_numbers() -> None:
    numbers = {"1234567.5": "1,234,567.5", "-12": "\u221212", "12,345": "12,345", "1,2": None, "x": None}
    assert {number: grouped(number) for number in numbers} == numbers


class Pipeline:
    """As a pipeline of spaCy that knows one name."""

    def __init__(self, name: str, label: str = "PERSON") -> None:
        self.name, self.pipe_labels = name, {"ner": [label]}

    def __call__(self, sentence: str) -> SimpleNamespace:
        start = sentence.find(self.name)
        entity = SimpleNamespace(label_="PERSON", start_char=start, end_char=start + len(self.name))
        return SimpleNamespace(ents=[entity] if start >= 0 else [])


def load(model: str) -> Pipeline:
    """As ``spacy.load``."""
    if model == "missing":
        raise OSError("there is no such model")
    return Pipeline("Dr. Vell Ambro", "ORG" if model == "companies" else "PERSON")


@pytest.fixture
def invented_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in place of spaCy, which is not installed where these tests run."""
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))


def test_a_mention_overlaps_the_name_of_a_person(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Vell Ambro"}])
    pipeline.to_disk(tmp_path)
    is_person = person_finder(str(tmp_path))
    assert is_person("Today Vell Ambro sang.", 6, 16)
    assert not is_person("Today Vell Osk sang.", 6, 14)


@pytest.mark.usefixtures("in_process", "invented_spacy")
def test_groups_that_need_a_person_lose_the_other_sentences(tmp_path: Path) -> None:
    groups = (DATA / "collection.yaml").read_text("utf-8")
    made, found = run(tmp_path, (DATA / "dump.xml").read_bytes(), groups, names="people")
    weavers = [row["prompt"] for row in found if row["group_id"] == "osk.weavers"]
    assert weavers == ["In 1990, Dr. Vell Ambro moved to"]
    assert made["groups"]["osk.weavers"]["left_out"]["no person's name"] == 3
    assert len(found) == 7


@pytest.mark.usefixtures("in_process", "invented_spacy")
def test_a_name_is_looked_for_where_it_is_mentioned(tmp_path: Path) -> None:
    """The term is also the beginning of the first word."""
    groups = GROUPS.replace("titles: [Glorbist]", "titles: [Vell]").replace("}}", "}, needs_person: true}")
    content = dump(page("Vell", "Velled maps of Dr. Vell Ambro were folded in the old town of Osk."))
    _, found = run(tmp_path, content, groups, names="people")
    assert [row["prompt"] for row in found] == ["Velled maps of Dr. Vell Ambro"]


@pytest.mark.usefixtures("invented_spacy")
@pytest.mark.parametrize(
    ("model", "message"),
    [("companies", "it has no label PERSON or PER"), ("missing", "spaCy cannot load it: there is no such model")],
)
def test_a_model_without_people_is_refused(model: str, message: str) -> None:
    with pytest.raises(CollectError, match=message):
        person_finder(model)
