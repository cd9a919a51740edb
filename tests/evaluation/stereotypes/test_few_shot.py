"""Requests for sentences, the sentences in what is returned, and the choice of examples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.arrays import Floats
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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (" A blicket sings. ##\nKeywords: a, b ## Sentence: B", "A blicket sings."),
        (" A blicket sings. Keywords: a, b", "A blicket sings."),
        (" A blicket sings. # Sentence: Another one.", "A blicket sings."),
        ("A blicket in C#major sings.", "A blicket in C#major sings."),
        ("A blicket sings.\nA wug sings.", "A blicket sings."),
        ("\n\n A blicket sings.", "A blicket sings."),
        ("Sentence: A blicket sings.", "A blicket sings."),
        ('"A blicket sings."', "A blicket sings."),
        ("“A blicket sings.”", "A blicket sings."),
        ('"A blicket," he said, "sings."', '"A blicket," he said, "sings."'),
        ("## A blicket sings.", ""),
        ("", ""),
    ],
)
def test_a_sentence_ends_at_the_first_mark(text: str, sentence: str) -> None:
    assert cut_sentence(text) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Keywords: a, b\nSentence: A blicket sings.", "A blicket sings."),
        ("Keywords: a, b ## Sentence: A blicket sings. ##", "A blicket sings."),
        ("Keywords: a, b\nA blicket sings.", ""),
        ("A blicket sings.\n\nKeywords: a, b\nSentence: Another.", "A blicket sings."),
    ],
)
def test_a_reply_may_repeat_the_keywords(text: str, sentence: str) -> None:
    assert cut_reply(text) == sentence


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ('{"sentences": ["A b.", "C d."]}', ["A b.", "C d."]),
        ('["A b.", "C d."]', ["A b.", "C d."]),
        ('```json\n["A b."]\n```', ["A b."]),
        ('["A", "B", "C", "D"]', ["A", "B", "C"]),
        ("Here you are: [1]", None),
        ('["A", 2]', None),
        ('{"sentences": "A"}', None),
        ("[" * 100_000, None),
        ("", None),
    ],
)
def test_a_list_is_checked(text: str, sentences: list[str] | None) -> None:
    assert read_list(text, 3) == sentences


@given(st.text(max_size=60))
def test_any_text_has_a_sentence_of_one_line(text: str) -> None:
    sentence = cut_sentence(text)
    assert len(sentence.splitlines()) <= 1
    assert "##" not in sentence
    assert read_list(json.dumps([text]), 5) == [text]
    assert read_list(json.dumps([f"{text}\ud83d"]), 5) == [f"{text}\ufffd"]


def plane(texts: Sequence[str]) -> Floats:
    """Two words at right angles, one between them, and one without a vector."""
    known = {"blicket": (1.0, 0.0), "wug": (0.0, 1.0), "gimble": (1.0, 1.0)}
    return np.array([known.get(text, (np.nan, np.nan)) for text in texts])


def shots(*keywords: tuple[str, str]) -> ShotFile:
    made = tuple(Shot(keywords=pair, sentence=f"{pair[0]} {pair[1]}.") for pair in keywords)
    return ShotFile(id="own", source="this test", licence="CC0-1.0", shots=made)


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
    found = read_word_vectors(path)(["blicket", "slow-wug", "wug mell", "none"])
    assert found is not None
    np.testing.assert_array_equal(found, [[1, 0], [0, 3], [1, 2.5], [np.nan, np.nan]])


def test_a_local_generator_gives_the_mean_embedding_of_a_text() -> None:
    loaded = tiny_loaded("llama")
    generator = local_generator(loaded, DECODINGS.read("autobiastest"), 0, continuation="{prompt}")
    found = generator.vectors(["wug", ""])
    table = loaded.model.get_input_embeddings().weight.detach().double().numpy()
    ids = loaded.tokenizer(" wug", add_special_tokens=False)["input_ids"]
    np.testing.assert_allclose(found[0], table[ids].mean(0), rtol=1e-12)
