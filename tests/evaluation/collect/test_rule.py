"""The rule that makes a prompt of a sentence, and the text of wikitext."""

from __future__ import annotations

import pytest

from holisticbias_eval.collect.rule import PromptRule, find_mention, index_terms, prompt_length, sentence_fault
from holisticbias_eval.collect.titles import category_keys, list_links, title_key
from holisticbias_eval.collect.wikitext import paragraphs

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
        ("The New Left met the Left in old Osk.", ["Left", "New Left"], "The New Left met the Left in"),
        ("Our - Left met the Left in old Osk.", ["Left", "New Left"], "Our - Left met the Left"),
    ],
)
def test_prompts_of_sentences(sentence: str, terms: list[str], prompt: str | None) -> None:
    words = sentence.split()
    mention = find_mention(words, index_terms(terms), RULE.term_within)
    assert (mention and " ".join(words[: prompt_length(mention, RULE)])) == prompt


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("One two three four five six seven.", "too few words"),
        ("One two three four five six seven eight.", None),
        ("One two three four five six seven eight", "does not end a sentence"),
        ("One two three four five six seven " + "e" * 2000 + ".", "more than 2,000 characters"),
    ],
)
def test_faults_of_sentences(sentence: str, fault: str | None) -> None:
    assert sentence_fault(sentence.split(), RULE) == fault


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("'''A''' [[b|c]] [[d]] [http://e f] {{sfn|h}}", ["A c d f"]),
        ("A<ref>b</ref> (; {{cn}}) d<br>e", ["A d", "e"]),
        ("[[File:a.jpg|thumb|b [[c]]]] d [[Category:e]] [[:Category:f]] [[fr:g]]", ["d Category:f"]),
        ("{|\n| a\n|}\nb\n\nc", ["b", "c"]),
        ("== a ==\nb &amp; c&nbsp;d\n* e\n* f\ng", ["b & c d", "e", "f", "g"]),
        ("a <nowiki>[[b]]</nowiki><noinclude>c</noinclude><includeonly>d</includeonly>", ["a [[b]]c"]),
        ("a <!-- b --> c\u202ed\x07", ["a c d"]),
    ],
)
def test_text_of_wikitext(wikitext: str, text: list[str]) -> None:
    assert [" ".join(part.split()) for part in paragraphs(wikitext, {})] == text


def test_links_and_categories() -> None:
    wikitext = "See [[a]].\n* [[b|c]], [[d]]\n| [[e_f#g]] || [[h]]\n* [[File:i.jpg]] [[j]]\n"
    wikitext += "<!-- * [[k]] -->\n<nowiki>[[l]]</nowiki>"
    assert list(list_links(wikitext, {}, every=False)) == ["b", "e_f#g", "j"]
    assert list(list_links(wikitext, {}, every=True)) == ["a", "b", "d", "e_f#g", "h", "j"]
    assert list(list_links("[[a]] and [[b]]", {}, every=False)) == ["a", "b"]
    assert title_key("e_f#g") == title_key(" E  F")
    text = "[[Category:A b|x]] [[kategorie: c_D ]] [[:Category:e]] <!--[[Category:f]]-->"
    assert category_keys(text, {"kategorie": 14}) == {"a b", "c d"}
