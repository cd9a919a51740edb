"""Templates in running text: their text is put in, or the sentence is left out and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holisticbias_eval.collect.rule import Fault
from holisticbias_eval.collect.templates import converted, grouped
from holisticbias_eval.collect.wikitext import UNKNOWN, paragraphs
from small_wiki import dump, page, run


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
        ("{{USS|Osk|a}} for {{US$|10}}, {{transl|ar|ALA|vell}}", "USS Osk for US$10, vell"),
        ("cloth{{citation needed|date=May 2020}} of{{efn|a note}} Osk", "cloth of Osk"),
        ("It is {{glorb|a}} cloth.", f"It is {UNKNOWN} cloth."),
        ("{{glorb}} is a cloth.", f"{UNKNOWN} is a cloth."),
        ("the sum <math>a+b</math> of {{{1}}}", f"the sum {UNKNOWN} of {UNKNOWN}"),
        ("{{convert|ten|kg}}, {{convert|1|glorb}}, {{lang|fr}}, {{circa}}, {{frac|a}}", ", ".join([UNKNOWN] * 5)),
        ("{{Glorb box\n|a=b}}\nIt is cloth.", "It is cloth."),
        ("{{Infobox glorb|a=b}}{{Use dmy dates}}It is cloth.", "It is cloth."),
        ("It is cloth.{{glorbnote|a}} It folds.", "It is cloth. It folds."),
        ("Mr.{{glorb}} folds.", f"Mr.{UNKNOWN} folds."),
    ],
)
def test_text_of_templates(wikitext: str, text: str) -> None:
    assert paragraphs(wikitext, {}) == [text]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        # as English Wikipedia shows them
        (["100", "km", "mi"], "100 km (62 mi)"),
        (["5", "ft", "m"], "5 ft (1.5 m)"),
        (["1,500", "m", "ft"], "1,500 m (4,900 ft)"),
        (["2.5", "acre", "ha"], "2.5 acres (1.0 ha)"),
        (["20", "C", "F"], "20 °C (68 °F)"),
        (["10", "kg", "lb", "1"], "10 kg (22.0 lb)"),
        (["0", "kg", "lb"], "0 kg (0 lb)"),
        (["10", "kg", "mi"], None),
        (["10", "kg", "lb", "x"], None),
        (["1e5", "kg"], None),
        ([], None),
    ],
)
def test_converted_quantities(values: list[str], text: str | None) -> None:
    assert converted(values) == text


def test_grouped_numbers() -> None:
    numbers = {"1234567.5": "1,234,567.5", "-12": "\u221212", "12,345": "12,345", "1,2": None, "x": None}
    assert {number: grouped(number) for number in numbers} == numbers


def test_a_sentence_that_lacks_words_is_left_out_and_counted(tmp_path: Path) -> None:
    full = "A glorbist is a person who carries {{convert|10|kg|lb}} of cloth for ships every day."
    lacking = "A glorbist is a person who wears {{glorb|ten}} of cloth on ships every day."
    short = "Most glorbists of the town fold maps of cloth."
    _, rows = run(tmp_path, dump(page("Glorbist", f"{full} {lacking} {short}")))
    assert [row["sentence"] for row in rows] == [full.replace("{{convert|10|kg|lb}}", "10 kg (22 lb)"), short]
    record = json.loads((tmp_path / "out" / "collection.json").read_text())
    assert record["groups"]["osk.trades"]["left_out"] == {Fault.UNKNOWN_PART: 1}
