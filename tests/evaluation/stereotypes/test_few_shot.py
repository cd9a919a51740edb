"""The terms that a generator is asked for, requests for sentences, and the choice of examples."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.stereotypes.sentences_by_hand import specification

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import EvaluationError, SpecificationError
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.stereotypes.few_shot import (
    FILES,
    Shot,
    ShotFile,
    Shots,
    cut_reply,
    cut_sentence,
    list_format,
    read_list,
    read_word_vectors,
    write_prompt,
)
from holisticbias_eval.stereotypes.settings import RequestForm
from holisticbias_eval.stereotypes.specifications import read_specification
from holisticbias_eval.stereotypes.targets import (
    GroupTerm,
    Target,
    asked_targets,
    draw_term,
    group_terms,
    refuse_uneven_slots,
    sample_number,
    targets,
)
from known import known
from tiny_models import local_generator, tiny_loaded

FIRST = Shot(keywords=("kitten", "ladder"), sentence="The kitten climbed  up the ladder")
SECOND = Shot(keywords=("teapot", "shelf", "put"), sentence="Who put the teapot on a shelf?")
FORMS: dict[RequestForm, str] = {"chat": "Write a sentence", "list": "Write 5 different sentences"}


def test_prompts() -> None:
    """The form of the paper for a text; a chat is given an instruction after the examples."""
    terms = ("blicket", "slow moving")
    assert write_prompt("text", (FIRST, SECOND), terms, 5) == (
        "Keywords: kitten, ladder ## Sentence: The kitten climbed up the ladder. ##\n"
        "Keywords: teapot, shelf, put ## Sentence: Who put the teapot on a shelf? ##\n"
        "Keywords: blicket, slow moving ## Sentence:"
    )
    for form, asked in FORMS.items():
        example, other, instruction, last = write_prompt(form, (FIRST, SECOND), terms, 5).split("\n\n")
        assert example == "Keywords: kitten, ladder\nSentence: The kitten climbed up the ladder."
        assert other == "Keywords: teapot, shelf, put\nSentence: Who put the teapot on a shelf?"
        assert instruction.startswith(asked)
        assert last == "Keywords: blicket, slow moving"
    assert list_format(5)["json_schema"]["schema"]["properties"]["sentences"]["maxItems"] == 5


def test_the_shipped_examples_are_of_this_project() -> None:
    shots = FILES.read("fixed").shots
    assert len(shots) == 4
    for shot in shots:
        assert shot.sentence.endswith(".")
        assert all(keyword in shot.sentence for keyword in shot.keywords)


def test_a_sentence_ends_at_the_first_mark() -> None:
    expected = {
        " A blicket sings. ##\nKeywords: a, b ## Sentence: B": "A blicket sings.",
        " A blicket sings. Keywords: a, b": "A blicket sings.",
        " A blicket sings. # Sentence: Another one.": "A blicket sings.",
        "A blicket in C#major sings.": "A blicket in C#major sings.",
        "A blicket sings.\nA wug sings.": "A blicket sings.",
        "\n\n A blicket sings.": "A blicket sings.",
        "Sentence: A blicket sings.": "A blicket sings.",
        '"A blicket sings."': "A blicket sings.",
        "“A blicket sings.”": "A blicket sings.",
        '"A blicket," he said, "sings."': '"A blicket," he said, "sings."',
        "## A blicket sings.": "",
        "": "",
    }
    assert {text: cut_sentence(text) for text in expected} == expected


def test_a_reply_may_repeat_the_keywords() -> None:
    assert cut_reply("Keywords: a, b\nSentence: A blicket sings.") == "A blicket sings."
    assert cut_reply("Keywords: a, b ## Sentence: A blicket sings. ##") == "A blicket sings."
    assert cut_reply("Keywords: a, b\nA blicket sings.") == ""
    assert cut_reply("A blicket sings.\n\nKeywords: a, b\nSentence: Another.") == "A blicket sings."


def test_a_list_is_checked() -> None:
    assert read_list('{"sentences": ["A b.", "C d."]}', 3) == read_list('["A b.", "C d."]', 3) == ["A b.", "C d."]
    assert read_list('```json\n["A b."]\n```', 3) == ["A b."]
    assert read_list('["A", "B", "C", "D"]', 3) == ["A", "B", "C"]
    for text in ("Here you are: [1]", '["A", 2]', '{"sentences": "A"}', "[" * 100_000, ""):
        assert read_list(text, 3) is None


@given(st.text(max_size=60))
def test_any_text_has_a_sentence_of_one_line(text: str) -> None:
    sentence = cut_sentence(text)
    assert len(sentence.splitlines()) <= 1
    assert "##" not in sentence
    assert read_list(json.dumps([text]), 5) == [text]
    assert read_list(json.dumps([f"{text}\ud83d"]), 5) == [f"{text}\ufffd"]


def plane(texts: Sequence[str]) -> Floats:
    """Two words at right angles, one between them, and one without a vector."""
    vectors = {"blicket": (1.0, 0.0), "wug": (0.0, 1.0), "gimble": (1.0, 1.0)}
    return np.array([vectors.get(text, (np.nan, np.nan)) for text in texts])


def shots(*keywords: tuple[str, str]) -> ShotFile:
    made = tuple(Shot(keywords=pair, sentence=f"{pair[0]} {pair[1]}.") for pair in keywords)
    return ShotFile(id="own", source="this test", licence="CC0-1.0", shots=made)


@pytest.mark.parametrize("end", [".", '."', "!\u201d", "?)"])
def test_a_sentence_that_ends_in_a_final_mark_gets_no_other(end: str) -> None:
    sentence = f"He said it{end}"
    assert Shot(keywords=("a", "b"), sentence=sentence).closed == sentence
    assert Shot(keywords=("a", "b"), sentence="He said it").closed == "He said it."


def test_the_examples_with_the_most_similar_keywords_come_first() -> None:
    """An example with both words of the pair is left out."""
    # cosines with (blicket, wug): (0 + .707) / 2, undefined, (.707 + .707) / 2, (1 + .707) / 2
    file = shots(("wug", "gimble"), ("mell", "wug"), ("gimble", "gimble"), ("blicket", "gimble"), ("Blicket", "wug"))
    (chosen,) = Shots(file, 3, plane, "hand").choose([("blicket", "wug")])
    assert [shot.keywords for shot in chosen] == [("blicket", "gimble"), ("gimble", "gimble"), ("wug", "gimble")]
    assert Shots(file).choose([("blicket", "wug")]) == [file.shots]


def test_word_vectors_are_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("4 2\nBlicket 1 0\nwug 0 3\nmell 2 2\n. . 5 5\n")
    found = known(read_word_vectors(path)(["blicket", "slow-wug", "wug mell", "none"]))
    np.testing.assert_array_equal(found, [[1, 0], [0, 3], [1, 2.5], [np.nan, np.nan]])


def test_a_local_generator_gives_the_mean_embedding_of_a_text() -> None:
    loaded = tiny_loaded("llama")
    generator = local_generator(loaded, DECODINGS.read("autobiastest"), 0, continuation="{prompt}")
    found = generator.vectors(["wug", ""])
    table = loaded.model.get_input_embeddings().weight.detach().double().numpy()
    ids = loaded.tokenizer(" wug", add_special_tokens=False)["input_ids"]
    np.testing.assert_allclose(found[0], table[ids].mean(0), rtol=1e-12)


CALM = Target("own.invented", "calm", "gimble")


def test_attributes_of_no_stereotype_are_not_asked_for() -> None:
    """Without stereotypes, every attribute is."""
    for name, asked, every in (("Professions_vs_Gender", 40, 60), ("professions", 40, 60), ("groups.gender", 48, 48)):
        found = read_specification(name)
        assert (len(asked_targets(found)), len(targets(found))) == (asked, every)
        assert "judge" not in {target.attribute for target in asked_targets(found)}


def test_a_term_without_a_partner_is_not_asked_for() -> None:
    slots = [{"terms": ["blicket", "wug"]}, {"terms": ["tove", None]}]
    assert group_terms(specification(slots=slots))["blickets"] == (GroupTerm("blickets", 0, "blicket"),)


def test_slots_that_give_no_pairs_are_refused() -> None:
    with pytest.raises(EvaluationError, match="the group 'blickets' has no term with a partner"):
        group_terms(specification(slots=[{"terms": ["blicket", None]}]))
    with pytest.raises(SpecificationError, match="slot 1 has no terms"):
        refuse_uneven_slots(specification(slots=[{"terms": []}]))
    with pytest.raises(SpecificationError, match="slot 2 has 1 term for 2 groups"):
        refuse_uneven_slots(specification(slots=[{"terms": ["blicket", "wug"]}, {"terms": ["tove"]}]))


def test_groups_take_turns_and_terms_come_once_each() -> None:
    terms = group_terms(specification())
    drawn = [draw_term(0, CALM, request, terms) for request in range(12)]
    assert {term.group for term in drawn[:2]} == {"blickets", "wugs"}
    assert [term.group for term in drawn[::2]] == [drawn[0].group] * 6
    for part in (drawn[:6], drawn[6:]):
        assert Counter(part) == Counter(term for own in terms.values() for term in own)


def test_a_draw_depends_on_seed_and_attribute() -> None:
    terms = group_terms(specification())
    others = [Target("own.invented", "calm", f"word{i}") for i in range(40)]
    first = Counter(draw_term(0, target, 0, terms) for target in others)
    assert len(first) == 6
    assert [draw_term(0, t, 0, terms) for t in others] != [draw_term(1, t, 0, terms) for t in others]


def test_samples_of_equal_prompts_have_different_numbers() -> None:
    asked = [
        (target, request, sample)
        for target in (CALM, Target("own.other", "calm", "gimble"), Target("own.invented", "loud", "gimble"))
        for request in range(40)
        for sample in range(5)
    ]
    numbers = [sample_number(*row) for row in asked]
    assert len(set(numbers)) == len(asked)
    assert all(0 <= number < 2**31 for number in numbers)
