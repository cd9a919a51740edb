import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.scoring.small_models import plain_part

from holisticbias.cli import main
from holisticbias_eval.prompts.contexts import Context, read_context
from holisticbias_eval.results.run import read_run
from invoking import Invoke
from tiny_models import saved, tiny_model, tiny_tokenizer

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
    said = "a line of personas.txt for each sentence, by seed 7; 3 lines, SHA-256 "
    assert found.settings["context"].startswith(said)


def test_sentences_and_phrases_are_scored_under_their_context(
    tiny_gpt2: Path, tiny_options: tuple[str, ...], tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (tmp_path / "personas.txt").write_text(LINES, "utf-8")
    contexts = ("--context-file", str(tmp_path / "personas.txt"), "--context-seed", "3")
    assert main(["evaluate", *tiny_options, *contexts, "--out", str(tmp_path / "run")]) == 0
    run = read_run(tmp_path / "run")
    assert run.result.signature.scoring["context"].startswith("a line of personas.txt")
    assert len(set(run.answers["context"].to_pylist())) == 3
    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny_gpt2), AutoTokenizer.from_pretrained(tiny_gpt2)

    def naively(context: str, text: str) -> float:
        whole = context + text
        return sum(plain_part(model, tokenizer, whole, len(context), len(whole), lead=[0]))

    for row in itertools.islice(run.answers.to_pylist(), 0, None, 13):
        start = len("I'm ") if row["text"].startswith("I'm ") else row["text"].index(" ", 2) + 1
        assert row["nll"] == pytest.approx(naively(row["context"], row["text"]), abs=1e-4)
        assert row["phrase_nll"] == pytest.approx(naively(row["context"], row["text"][start:-1]), abs=1e-4)


def test_another_context_is_scored_again_and_the_same_is_not(
    tiny_options: tuple[str, ...], tmp_path: Path, invoke: Invoke
) -> None:
    arguments = ("evaluate", *tiny_options, "--store", tmp_path / "store")
    invoke.printed(*arguments, "--context", "Hi!", "--out", tmp_path / "run")
    assert invoke.printed(*arguments, "--context", "Hi!", "--dry-run").startswith("0 of ")
    first, _, total = invoke.printed(*arguments, "--dry-run").split()[:3]
    assert first == total != "0"
    scores = read_run(tmp_path / "run")
    assert scores.result.signature.scoring["context"] == "Hi!"
    assert np.isfinite(scores.answers["nll"].to_numpy()).all()


def test_an_encoder_reads_the_context_as_it_stands(mini_release_folder: Path, tmp_path: Path, invoke: Invoke) -> None:
    """The tokenizer of the model puts nothing around a text."""
    model, tokenizer = tiny_model("bart").eval(), tiny_tokenizer()
    tiny_bart = saved(tmp_path / "tiny-bart", model, tokenizer)
    arguments = ("evaluate", "--model", tiny_bart, "--release", mini_release_folder, "--out", tmp_path / "run")
    assert "the encoder would read nothing" in invoke.refused(*arguments)
    invoke.printed(*arguments, "--context", "I like to sail.")
    read = torch.tensor([tokenizer("I like to sail.")["input_ids"]])
    for row in itertools.islice(read_run(tmp_path / "run").answers.to_pylist(), 0, None, 29):
        ids = torch.tensor([[1, *tokenizer(row["text"])["input_ids"]]])
        with torch.inference_mode():
            values = -model(input_ids=read, decoder_input_ids=ids).logits[0, :-1].double().log_softmax(-1)
        assert row["context"] == "I like to sail."
        assert row["nll"] == pytest.approx(float(values.gather(1, ids[0, 1:, None]).sum()), abs=1e-4)
