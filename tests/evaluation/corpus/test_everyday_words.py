"""The shipped specifications find the words that people use for groups, and write only their terms."""

from functools import cache
from pathlib import Path

import pytest
import yaml

from holisticbias_eval.corpus.mentions import named_groups, target_finder
from holisticbias_eval.corpus.swapping import swap_for_all_groups
from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.stereotypes.specifications import read_specification, read_specifications

SENTENCES = yaml.safe_load(Path(__file__).with_name("everyday_sentences.yaml").read_text("utf-8"))
EDITIONS = ("multilateral", "groups")
TEXTS = [(dimension, text) for dimension, groups in SENTENCES.items() for texts in groups.values() for text in texts]
read = cache(read_specification)  # each edition is read once
WITH_FORMS = {s.id: s for s in read_specifications() if s.forms}


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("dimension", SENTENCES)
def test_everyday_words_are_found(edition: str, dimension: str) -> None:
    finder = target_finder(read(f"{edition}.{dimension}"))
    missing = [text for own, text in TEXTS if own == dimension and not any(finder.find(text))]
    assert missing == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_rewritten_sentence_names_the_new_group_alone_and_has_no_word_form(edition: str) -> None:
    """For every third sentence."""
    rewritten = 0
    for dimension, text in TEXTS[::3]:
        specification = read(f"{edition}.{dimension}")
        finder = target_finder(specification)
        forms = {word.casefold() for one in specification.forms for word in one.words}
        own = {mention.of.group for mention in finder.find(text)}
        for group, version in swap_for_all_groups(text, specification).items():
            if not isinstance(version, str) and group not in own:
                rewritten += 1
                assert named_groups(version.text, specification) == {group}
                assert not {mention.of.term.casefold() for mention in finder.find(version.text)} & forms
    assert rewritten > 30


@pytest.mark.parametrize(
    ("specification", "text", "expected"),
    [
        (
            "groups.religion",
            "not all muslims are terrorists but all terrorists are muslim",
            {
                "hindu": "not all hindus are terrorists but all terrorists are hindu",
                "jewish": "not all jews are terrorists but all terrorists are jewish",
            },
        ),
        ("groups.race", "the blacks are loud", {"asian": "the asians are loud", "black": "the black people are loud"}),
        ("groups.race", "black people are louder than white people", {"asian": "about several groups"}),
        ("groups.gender", "ladies are weak", {"women": "women are weak", "men": "men are weak"}),
        ("groups.gender", "the woman lost her way", {"men": "no term that fits its place"}),
        ("multilateral.religion", "muslims are anti-christian", {"hindu": "about several groups"}),
        ("multilateral.religion", "jews are loud", {"hindu": "no term that fits its place"}),  # the paper has no plural
    ],
)
def test_rewritten_sentences(specification: str, text: str, expected: dict[str, str]) -> None:
    found = swap_for_all_groups(text, read(specification))
    assert {group: v if isinstance(v := found[group], str) else v.text for group in expected} == expected


@pytest.mark.parametrize("name", WITH_FORMS)
def test_a_form_is_found_as_a_word_of_its_group(name: str) -> None:
    found = WITH_FORMS[name]
    finder = target_finder(found)
    groups = {term: group.name for slot in found.slots for group, term in zip(found.groups, slot.terms, strict=True)}
    for forms in found.forms:
        own = forms.group or groups[forms.of]
        for word in forms.words:
            assert [m.of.group for m in finder.find(f"so {word} here")] == [own], word


def test_versions_before_the_forms_do_not_have_them() -> None:
    assert read_specification("groups.race", "3.0.0").forms == ()
    assert read("groups.race").forms


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        ("{of: nobody, words: [x]}", r"own.yaml: forms.0.of: 'nobody' is not a term of a slot"),
        ("{group: nobody, words: [x]}", r"own.yaml: forms.0.group: There is no group 'nobody'"),
        ("{words: [x]}", r"own.yaml: forms.0: The forms have neither of and group"),
        ("{of: stad, words: [Wug]}", r"own.yaml: forms.0.words.0: The word 'Wug' is a term or another form"),
        ("{of: stad, words: []}", r"own.yaml: forms.0.words: "),
    ],
)
def test_forms_of_a_users_file(tmp_path: Path, forms: str, message: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "groups: [{name: stads, label: Stads}, {name: wugs, label: Wugs}]\n"
        "slots: [{form: noun, terms: [stad, wug]}]\n"
        f"forms: [{forms}]\n"
        "attributes: [{name: small, label: Small, terms: [pebble]}]\n"
    )
    with pytest.raises(SpecificationError, match=message):
        read_specification(str(path))
