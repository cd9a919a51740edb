from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from holisticbias_eval.arrays import Floats
from holisticbias_eval.models.likelihood import batches
from holisticbias_eval.models.likelihood.causal import PLAIN, CausalScorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.loading.running import exactly, in_float64
from known import ignore, known
from tiny_models import as_loaded

from .small_models import SENTENCES, plain_values

TILED = "tiled head"
OLD_BOUND = 1e-4  # nats per text from plain scoring: rounding in a trained model exceeds this


def sums(model: Any, tokenizer: Any, texts: Sequence[str]) -> Floats:
    return np.array([values.sum() for values in plain_values(model, tokenizer, texts)])


def test_rounding_of_a_trained_model_does_not_refuse_the_tree(trained_like: Any, tokenizer: Any) -> None:
    notices: list[str] = []
    scorer = CausalScorer(as_loaded(trained_like, tokenizer), notices.append)
    found = scorer.score(whole(SENTENCES), ignore).nll
    plain = sums(trained_like, tokenizer, SENTENCES)
    assert np.abs(found - plain).max() > OLD_BOUND
    assert (scorer.method, notices) == (TILED, [])

    exactness = scorer.probe(whole(SENTENCES)).exactness
    assert known(exactness.plain_error) > OLD_BOUND
    assert known(exactness.error) < 2 * known(exactness.plain_error)
    with in_float64(trained_like):
        exact = sums(trained_like, tokenizer, SENTENCES)
    np.testing.assert_allclose(found, exact, atol=2 * np.abs(plain - exact).max(), rtol=0)


@pytest.mark.parametrize(
    ("fault", "how"), [(0.4, "scores a prefix tree differently"), (np.nan, "cannot score texts as one prefix tree")]
)
def test_a_fault_larger_than_rounding_is_refused(
    trained_like: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch, fault: float, how: str
) -> None:
    right = batches.tiled
    for head in batches.HEADS:
        monkeypatch.setitem(batches.HEADS, head, lambda *given: right(*given) + fault / 20)
    notices: list[str] = []
    scorer = CausalScorer(as_loaded(trained_like, tokenizer), notices.append)
    scorer.score(whole(SENTENCES[:4]), ignore)
    assert scorer.method == PLAIN
    (notice,) = notices
    assert how in notice
    assert notice.endswith("batches of equal length, about 3.0 times slower")


def test_float64_leaves_the_model_as_it_was(trained_like: Any, tokenizer: Any) -> None:
    before = {name: parameter.clone() for name, parameter in trained_like.named_parameters()}
    ids = tokenizer("I'm a Deaf woman.", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        exact, possible = exactly(trained_like, lambda: trained_like(ids).logits)
        after = trained_like(ids).logits
    assert (possible, exact.dtype, after.dtype) == (True, torch.float64, torch.float32)
    assert torch.get_default_dtype() == torch.float32
    assert all(torch.equal(before[name], p) for name, p in trained_like.named_parameters())


def test_without_float64_a_method_is_held_to_plain_scoring(
    gpt2: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = type(gpt2).forward

    def only_float32(self: Any, *arguments: Any, **named: Any) -> Any:
        if torch.get_default_dtype() == torch.float64:
            raise TypeError("this device has no float64")
        return right(self, *arguments, **named)

    monkeypatch.setattr(type(gpt2), "forward", only_float32)
    scorer = CausalScorer(as_loaded(gpt2, tokenizer), ignore)
    scorer.score(whole(SENTENCES), ignore)
    exactness = scorer.probe(whole(SENTENCES)).exactness
    assert (exactness.method, exactness.error, exactness.plain_error) == (TILED, None, None)
