"""The texts that each method trains on, and its loss: by hand, scipy, slow loops and numerical gradients."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
import torch
from tests.evaluation.mitigation.term_models import SPECIFICATION, TASK, TEXTS, make_batch, make_tokenizer, read_batch

from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.losses.term_reader import TermReader
from holisticbias_eval.mitigation.losses.term_scores import term_log_probabilities
from holisticbias_eval.mitigation.method import CorpusMethod
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.methods.add import add_loss
from holisticbias_eval.mitigation.methods.lmd import lmd_loss
from known import known
from tiny_models import tiny_model

CORPUS = ("a stad is mizzic", "elmfolk sing", "the wugs are grobby", "nobody is arble", "the blicket elder is grobby")
CORPUS_METHODS = ("lmd", "add", "ctda", "cada")


def method_of(name: str) -> CorpusMethod:
    found = METHODS[name]
    assert isinstance(found, CorpusMethod)
    return found


NO_GROUP = "no sentence of the corpus mentions a group"


def corpus(*sentences: str) -> pa.Table:
    return pa.table({"sentence": pa.array(sentences, pa.string())})


@pytest.mark.parametrize(
    ("method", "texts", "counts"),
    [
        ("lmd", CORPUS[:2] + CORPUS[3:], {"corpus": 4, "left_out": 1}),
        ("add", CORPUS[:2] + CORPUS[3:], {"corpus": 4, "left_out": 1, "with_attribute": 2}),
        (
            "ctda",
            (
                "a stad is mizzic", "a blicket is mizzic", "an elmer is mizzic",
                "elmfolk sing", "blickets sing", "stads sing",
                "nobody is arble",
                "the blicket elder is grobby",
            ),
            {
                "corpus": 4, "left_out": 1, "added": 4, "not_rewritten": 2,
                "not_rewritten: no term that fits its place": 2,
            },
        ),
        (
            "cada",
            (
                "a stad is mizzic", "a stad is arble",
                "elmfolk sing",
                "nobody is arble", "nobody is mizzic",
                "the blicket elder is grobby", "the blicket elder is trindle",
            ),
            {"corpus": 4, "left_out": 1, "added": 3, "not_rewritten": 0},
        ),
    ],
)  # fmt: skip
def test_training_texts(method: str, texts: tuple[str, ...], counts: dict[str, int]) -> None:
    """In the order of the corpus, the same each time; the group that is held out never appears."""
    made = method_of(method).training_texts(corpus(*CORPUS), TASK)
    assert made[0].to_pydict() == {"text": list(texts)}
    assert made[1] == counts
    assert made == method_of(method).training_texts(corpus(*CORPUS), TASK)
    assert "wug" not in {m.of.group for text in texts for m in target_finder(SPECIFICATION).find(text)}


@pytest.mark.parametrize(
    ("method", "sentences", "message"),
    [
        *((name, ("nobody is grobby", "the wugs are grobby"), NO_GROUP) for name in CORPUS_METHODS),
        *((name, (), NO_GROUP) for name in CORPUS_METHODS),
        ("add", ("a stad is arble",), "has a negative attribute"),
        ("cada", ("a stad is ugsome",), "has an attribute with an opposite"),
        ("ctda", ("the blicket elder is grobby",), "can be rewritten"),
    ],
)
def test_corpora_that_a_method_cannot_use(method: str, sentences: tuple[str, ...], message: str) -> None:
    with pytest.raises(MitigationError, match=message):
        method_of(method).training_texts(corpus(*sentences), TASK)


def test_add_needs_negative_attributes() -> None:
    unmarked = tuple(chosen.model_copy(update={"valence": None}) for chosen in SPECIFICATION.attributes)
    task = replace(TASK, specification=SPECIFICATION.model_copy(update={"attributes": unmarked}))
    with pytest.raises(MitigationError, match="valence: negative"):
        METHODS["add"].auxiliary_loss(task, make_tokenizer("bytes"))
    alone = tuple(
        slot.model_copy(update={"terms": (slot.terms[0], *[None] * 9)[: len(slot.terms)]})
        for slot in SPECIFICATION.slots
    )
    task = replace(TASK, specification=SPECIFICATION.model_copy(update={"slots": alone}))
    with pytest.raises(MitigationError, match="no slot has terms of two groups that take part"):
        METHODS["add"].auxiliary_loss(task, make_tokenizer("bytes"))


def losses(method: str, model: Any, texts: tuple[str, ...]) -> torch.Tensor:
    tokenizer = make_tokenizer("bytes")
    auxiliary = known(METHODS[method].auxiliary_loss(TASK, tokenizer))
    batch = make_batch(tokenizer, texts)
    return auxiliary.loss(model, read_batch(model, batch), auxiliary.prepare(batch))


@pytest.mark.parametrize("method", ["lmd", "add"])
def test_nothing_to_compare_is_zero_with_a_gradient(method: str) -> None:
    found = losses(method, tiny_model("gpt2"), ("Nobody came.",))
    assert found.item() == 0
    found.backward()  # type: ignore[no-untyped-call]


def test_lmd_is_the_mean_over_mentions() -> None:
    model, tokenizer = tiny_model("gpt2").double(), make_tokenizer("bytes")
    batch = make_batch(tokenizer, TEXTS)
    prepared = TermReader(TASK, tokenizer).prepare(batch)
    scores = term_log_probabilities(model, read_batch(model, batch), prepared)
    assert losses("lmd", model, TEXTS).item() == pytest.approx(lmd_loss(scores, prepared["present"]).item())


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_add_compares_states_with_output_embeddings(name: str) -> None:
    """Attributes as they stand in their text, terms as between other words, in a slow loop."""
    model, tokenizer = tiny_model(name).double(), make_tokenizer("bytes")
    weights = model.get_output_embeddings().weight.detach()

    def state(text: str) -> torch.Tensor:
        ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        found: torch.Tensor = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0, -1].detach()
        return found

    def vector(term: str) -> torch.Tensor:
        ids = tokenizer(f" {term}", add_special_tokens=False)["input_ids"]
        mean: torch.Tensor = weights[[i for i in ids if tokenizer.decode([i]).strip()]].mean(0)  # without blanks
        return mean

    differences = []
    for text in ("a grobby", "a grobby hat and flernest", "ugsome"):  # each up to an attribute
        for slot in SPECIFICATION.slots[:3]:
            vectors = [vector(term or "") for term in slot.terms[:3]]
            cosines = [torch.cosine_similarity(v, state(text), dim=0).item() for v in vectors]
            differences += [abs(cosines[i] - cosines[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    texts = ("a grobby hat and flernest stads", "arble", "ugsome trindle")
    assert losses("add", model, texts).item() == pytest.approx(sum(differences) / len(differences), abs=1e-9)


def test_the_vector_of_a_term_is_the_mean_of_its_tokens() -> None:
    model, tokenizer = tiny_model("llama"), make_tokenizer("bytes")
    auxiliary = known(METHODS["add"].auxiliary_loss(TASK, tokenizer))
    prepared = {**auxiliary.prepare(make_batch(tokenizer, ("a grobby",)))}
    prepared["targets"] = torch.tensor([[[0, 3]], [[5, -1]]])
    with torch.no_grad():
        state = model.base_model(prepared["input_ids"]).last_hidden_state[0, prepared["position"][0]]
        weights = model.get_output_embeddings().weight
        first, second = (torch.cosine_similarity(v, state, dim=0) for v in (weights[[0, 3]].mean(0), weights[5]))
        loss = auxiliary.loss(model, torch.zeros(1), prepared)
    assert loss.item() == pytest.approx(abs(float(first - second)), abs=1e-6)


def test_add_gradient_reaches_the_output_embeddings_and_the_layers() -> None:
    model = tiny_model("llama")
    losses("add", model, ("a grobby hat",)).backward()  # type: ignore[no-untyped-call]
    for name in ("lm_head.weight", "model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight"):
        gradient = known(model.get_parameter(name).grad)
        assert gradient.abs().sum() > 0, name


def test_add_counts_attributes_that_were_cut_off() -> None:
    tokenizer = make_tokenizer("bytes")
    auxiliary = known(METHODS["add"].auxiliary_loss(TASK, tokenizer))
    batch = make_batch(tokenizer, ("a grobby hat and mizzic",))
    cut = replace(batch, input_ids=batch.input_ids[:, :-1], offsets=batch.offsets[:, :-1])
    assert len(auxiliary.prepare(cut)["row"]) == 1
    assert auxiliary.counts == {"compared": 1, "cut off with the end of its text": 1}


def test_lmd_counts_mentions() -> None:
    tokenizer = make_tokenizer("bytes")
    auxiliary = known(METHODS["lmd"].auxiliary_loss(TASK, tokenizer))
    for text in TEXTS:
        auxiliary.prepare(make_batch(tokenizer, (text, "wugs")))
    assert auxiliary.counts == {"compared": 6, "of a group that takes no part": 5}


QUARTERS = (0.75 * math.log(6 / 5) + 0.25 * math.log(2 / 3)) / 2 + (math.log(4 / 5) + math.log(4 / 3)) / 4
"""P = (3/4, 1/4), so that the middle is (5/8, 3/8)."""
CERTAIN = math.log(3 / 2) / 2 + math.log(2) / 6
"""P = (1, 0, 0), so that the middle is (2/3, 1/6, 1/6)."""


def test_divergence_by_hand() -> None:
    def loss(*rows: Sequence[float | None]) -> float:
        present = torch.tensor([[value is not None for value in row] for row in rows])
        values = torch.tensor([[math.log(value or 1.0) for value in row] for row in rows], dtype=torch.float64)
        return float(lmd_loss(values, present))

    zero, quarters = pytest.approx(0.0, abs=1e-12), pytest.approx(QUARTERS, abs=1e-12)
    assert loss([0.5, 0.5]) == zero
    assert loss([0.2, 0.2, None]) == zero, "a group without a term does not count"
    for row in ([0.03, 0.01], [0.01, 0.03], [0.3, None, 0.1]):  # only the ratio counts
        assert loss(row) == quarters, row
    assert loss([1e-40, 1e-300, 1e-300]) == pytest.approx(CERTAIN, abs=1e-12)
    several = loss([0.5, 0.5, 0.5], [0.3, 0.1, None], [1.0, 1e-300, 1e-300])
    assert several == pytest.approx((QUARTERS + CERTAIN) / 3, abs=1e-12)


def test_lmd_gradient() -> None:
    """Right where a group has no term, and finite where a probability is 0 in floating point."""
    torch.manual_seed(0)
    values = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    present = torch.tensor([[True] * 4, [True, False, True, True], [False, True, True, False]])
    assert torch.autograd.gradcheck(lambda v: lmd_loss(v, present), (values,))
    extreme = torch.tensor([[0.0, -1e4]], requires_grad=True)
    both = torch.tensor([[True, True]])
    lmd_loss(extreme, both).backward()  # type: ignore[no-untyped-call]
    assert bool(known(extreme.grad).isfinite().all())


def test_distance_is_the_papers_sum_over_its_number_of_terms() -> None:
    torch.manual_seed(0)
    targets, attributes = torch.randn(4, 3, 5, dtype=torch.float64), torch.randn(2, 5, dtype=torch.float64)
    present = torch.tensor([[True, True, False], [True, True, True], [True, False, False], [True, True, False]])
    total, pairs = 0.0, 0
    for a in attributes:
        for s in range(3):
            for i in range(4):
                for j in range(4):
                    if i != j and present[i, s] and present[j, s]:
                        first, second = (torch.cosine_similarity(targets[k, s], a, dim=0) for k in (i, j))
                        total += abs(float(first - second))
                        pairs += 1
    assert pairs == 2 * 2 * (6 + 3)  # the last slot has one term: nothing to compare
    assert float(add_loss(targets, present, attributes)) == pytest.approx(total / pairs, abs=1e-12)
    order = [2, 0, 3, 1]
    assert float(add_loss(targets[order], present[order], attributes)) == pytest.approx(total / pairs, abs=1e-12)
