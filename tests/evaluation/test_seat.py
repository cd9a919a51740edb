from __future__ import annotations

from pathlib import Path

import pytest
from tests.evaluation.conftest import WOMEN

from holisticbias.cli import main
from holisticbias.release.release import Release
from holisticbias_eval.prompts.seat import SLOTS, seat_sentences, seat_templates
from holisticbias_eval.results.run import read_run

NOUNS = ("person", "friend", "kid", "parent")


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory, mini_release: Release) -> Path:
    """A random BERT of two layers with its own word-piece tokenizer."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    pieces = BertWordPieceTokenizer(lowercase=False)
    pieces.train_from_iterator(
        [*seat_sentences(mini_release.sentences)["text"].to_pylist()], vocab_size=80, show_progress=False
    )
    folder.mkdir()
    pieces.save_model(str(folder))
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_every_template_has_one_slot_and_an_id_of_its_own() -> None:
    templates = seat_templates()
    assert len({t.id for t in templates}) == len({t.text for t in templates}) == len(templates)
    assert {t.slot for t in templates} == set(SLOTS)


@pytest.mark.parametrize(
    ("sentence_id", "text", "phrase"),
    [
        ("seat.this-is/age.old/neutral.kid", "This is an old kid.", "old kid"),
        ("seat.is-a-person/age.old/neutral.kid", "An old kid is a person.", "old kid"),
        ("seat.the-is-here/age.old/neutral.kid", "The old kid is here.", "old kid"),
        ("seat.are-people/ability.deaf/neutral.parent", "Deaf parents are people.", "deaf parents"),
    ],
)
def test_sentences_read_as_they_should(mini_release: Release, sentence_id: str, text: str, phrase: str) -> None:
    rows = {r["sentence_id"]: r for r in seat_sentences(mini_release.sentences).to_pylist()}
    assert len(rows) == 7 * len(NOUNS) * len(seat_templates())
    assert (rows[sentence_id]["text"], rows[sentence_id]["phrase"]) == (text, phrase)


def test_a_dry_run_counts_the_measures_own_masked_inputs(
    tiny_bert: Path, mini_release: Release, mini_release_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoTokenizer

    arguments = ["--model", str(tiny_bert), "--release", str(mini_release_folder), "--no-store", "--dry-run"]
    assert main(["evaluate", *arguments, "--measure", "pseudo_likelihood_bias"]) == 0
    printed = capsys.readouterr().out
    tokenizer, inputs, tokens = AutoTokenizer.from_pretrained(tiny_bert), set(), 0
    sentences = seat_sentences(mini_release.sentences).to_pylist()
    asked = {(row["text"], row["phrase"]) for row in sentences}
    for text, phrase in asked:
        start = text.lower().index(phrase)
        encoded = tokenizer(text, return_offsets_mapping=True)
        for place, (left, right) in enumerate(encoded["offset_mapping"]):
            if left < start + len(phrase) and right > start and left < right:
                ids = list(encoded["input_ids"])
                ids[place] = tokenizer.mask_token_id
                tokens += len(ids)
                inputs.add(tuple(ids))
    assert printed.startswith(f"{len(asked):,} of {len(asked):,} texts to score: {tokens:,} tokens, ")
    assert f"{sum(map(len, inputs)):,} of them forward tokens" in printed


def test_of_several_measures_each_has_a_run(tiny_bert: Path, mini_release_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    arguments = ["--model", str(tiny_bert), "--release", str(mini_release_folder), "--out", str(out)]
    assert main(["evaluate", *arguments, "--measure", "likelihood_bias, pseudo_likelihood_bias"]) == 0
    assert {path.name for path in out.iterdir()} == {"likelihood_bias", "pseudo_likelihood_bias"}
    for path in out.iterdir():
        assert read_run(path).result.signature.measures == (path.name,)


@pytest.mark.parametrize("measure", ["pseudo_likelihood_bias", "likelihood_bias,pseudo_likelihood_bias"])
def test_where_it_cannot_be_measured_nothing_is_scored(
    tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], measure: str
) -> None:
    arguments = ["--model", str(tiny_gpt2), "--release", str(mini_release_folder), "--out", str(tmp_path / "run")]
    assert main(["evaluate", *arguments, "--measure", measure]) == 2
    assert "needs a masked model" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_terms_that_are_nouns_and_terms_of_one_gender_have_phrases(terms_release: Release) -> None:
    found = seat_sentences(terms_release.sentences)
    phrases = {(row["descriptor_id"], row["noun_id"], row["phrase"]) for row in found.to_pylist()}
    assert ("ability.amputee", "-", "amputee") in phrases
    assert ("ability.amputee", "-", "amputees") in phrases
    assert {noun for term, noun, _ in phrases if term == "age.girlish"} == {f"female.{noun}" for noun in WOMEN}
    assert len(found) == len(phrases_of(terms_release)) * len(seat_templates())


def phrases_of(release: Release) -> set[tuple[str, str | None]]:
    """The distinct terms with each noun, or with none if the term is a noun itself."""
    rows = release.sentences.select(["descriptor_id", "noun_id", "noun_phrase_type"]).to_pylist()
    return {(r["descriptor_id"], r["noun_id"]) for r in rows if r["noun_phrase_type"] not in ("descriptor", "noun")}
