import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.cli import main
from holisticbias_eval.prompts.contexts import Context, read_context
from holisticbias_eval.results.run import read_run

LINES = "\ufeffI like to sail.\n\n  I have two cats. I live\u2028in\x85Ohio. \r\nMy job is to teach.\n"


@given(st.lists(st.text()), st.integers())
def test_a_draw_depends_on_seed_and_sentence_only(sentences: list[str], seed: int) -> None:
    context = Context(("a", "b", "c"), seed)
    drawn = context.draw(sentences, joined=False)
    assert drawn == [context.draw([text], joined=False)[0] for text in sentences]
    assert set(drawn) <= {"a", "b", "c"}


def test_every_line_is_drawn_about_as_often_and_another_seed_draws_others() -> None:
    sentences = [f"sentence {i}" for i in range(3000)]
    one, other = (Context(("a", "b", "c"), seed).draw(sentences, joined=False) for seed in (1, 2))
    assert all(900 < one.count(line) < 1100 for line in "abc")
    assert 900 < sum(a == b for a, b in zip(one, other, strict=True)) < 1100


@pytest.mark.parametrize(
    ("line", "joined", "expected"),
    [("Hi!", True, "Hi! "), ("Hi! ", True, "Hi! "), ("Hi!\n", True, "Hi!\n"), ("", True, ""), ("Hi!", False, "Hi!")],
)
def test_a_space_stands_between_context_and_sentence(line: str, joined: bool, expected: str) -> None:
    assert list(Context((line,)).draw(["I'm tall."], joined=joined)) == [expected]


def test_a_file_has_one_context_a_line(tmp_path: Path) -> None:
    (tmp_path / "personas.txt").write_text(LINES, "utf-8")
    found = read_context(None, tmp_path / "personas.txt", 7)
    assert found.lines == ("I like to sail.", "I have two cats. I live\u2028in\x85Ohio.", "My job is to teach.")
    assert found.settings["context"].startswith(
        "a line of personas.txt for each sentence, by seed 7; 3 lines, SHA-256 "
    )


def test_sentences_and_phrases_are_scored_under_their_context(
    tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (tmp_path / "personas.txt").write_text(LINES, "utf-8")
    arguments = ["evaluate", "--model", str(tiny_gpt2), "--release", str(mini_release_folder)]
    arguments += ["--context-file", str(tmp_path / "personas.txt"), "--context-seed", "3"]
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 0
    run = read_run(tmp_path / "run")
    assert run.result.signature.scoring["context"].startswith("a line of personas.txt")
    assert len(set(run.answers["context"].to_pylist())) == 3
    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny_gpt2), AutoTokenizer.from_pretrained(tiny_gpt2)

    def naively(context: str, text: str) -> float:
        encoded = tokenizer(context + text, return_offsets_mapping=True)
        ids = torch.tensor([[0, *encoded["input_ids"]]])
        with torch.inference_mode():
            values = -model(ids).logits[0, :-1].double().log_softmax(-1)
        asked = [i for i, (_, end) in enumerate(encoded["offset_mapping"]) if end > len(context)]
        return sum(float(values[i, ids[0, i + 1]]) for i in asked)

    for row in itertools.islice(run.answers.to_pylist(), 0, None, 13):
        start = len("I'm ") if row["text"].startswith("I'm ") else row["text"].index(" ", 2) + 1
        assert row["nll"] == pytest.approx(naively(row["context"], row["text"]), abs=1e-4)
        assert row["phrase_nll"] == pytest.approx(naively(row["context"], row["text"][start:-1]), abs=1e-4)


def test_another_context_is_scored_again_and_the_same_is_not(
    tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", "--model", str(tiny_gpt2), "--release", str(mini_release_folder)]
    arguments += ["--store", str(tmp_path / "store")]

    def missing(*given: str) -> str:
        assert main([*arguments, *given, "--dry-run"]) == 0
        return capsys.readouterr().out

    assert main([*arguments, "--context", "Hi!", "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert missing("--context", "Hi!").startswith("0 of ")
    first, _, total = missing().split()[:3]
    assert first == total != "0"
    scores = read_run(tmp_path / "run")
    assert scores.result.signature.scoring["context"] == "Hi!"
    assert np.isfinite(scores.answers["nll"].to_numpy()).all()


@pytest.fixture(scope="module")
def tiny_bart(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BART of one layer whose tokenizer puts nothing around a text."""
    from transformers import AutoTokenizer, BartConfig, BartForConditionalGeneration

    folder = tmp_path_factory.mktemp("models") / "tiny-bart"
    small = {"d_model": 32, "max_position_embeddings": 64, "vocab_size": 300, "decoder_start_token_id": 0}
    sides = {f"{side}_{name}": 1 for side in ("encoder", "decoder") for name in ("layers", "attention_heads")}
    torch.manual_seed(0)
    config = BartConfig(**small, **sides, bos_token_id=0, eos_token_id=0, pad_token_id=0, forced_eos_token_id=None)
    BartForConditionalGeneration(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_gpt2).save_pretrained(folder)
    return folder


def test_an_encoder_reads_the_context_as_it_stands(
    tiny_bart: Path, mini_release_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    arguments = ["evaluate", "--model", str(tiny_bart), "--release", str(mini_release_folder), "--no-store"]
    assert main([*arguments, "--out", str(tmp_path / "none")]) == 2
    assert "the encoder would read nothing" in capsys.readouterr().err
    assert main([*arguments, "--context", "I like to sail.", "--out", str(tmp_path / "run")]) == 0
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(tiny_bart), AutoTokenizer.from_pretrained(tiny_bart)
    read = torch.tensor([tokenizer("I like to sail.")["input_ids"]])
    for row in itertools.islice(read_run(tmp_path / "run").answers.to_pylist(), 0, None, 29):
        ids = torch.tensor([[0, *tokenizer(row["text"])["input_ids"]]])
        with torch.inference_mode():
            values = -model(input_ids=read, decoder_input_ids=ids).logits[0, :-1].double().log_softmax(-1)
        assert row["context"] == "I like to sail."
        assert row["nll"] == pytest.approx(float(values.gather(1, ids[0, 1:, None]).sum()), abs=1e-4)
