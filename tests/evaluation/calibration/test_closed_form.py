"""The true Gen Bias of the responder: worked out by hand on small repertoires."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.responder.repertoire import AnswerStyle, Repertoire, Shift
from calibration.responder.truth import bias_of, judged_mixture, planted_mixture, true_biases
from holisticbias_eval.errors import EmbeddedModelError

STYLES = {
    "plain": AnswerStyle(share=0.5, wordings=("Noted.",)),
    "warm": AnswerStyle(share=0.3, wordings=("Welcome.",)),
    "curious": AnswerStyle(share=0.2, wordings=("Tell me more.",)),
}


def repertoire(*plants: Shift, styles: dict[str, AnswerStyle] | None = None) -> Repertoire:
    return Repertoire(
        release="1.0.0",
        seed=1,
        styles=styles or STYLES,
        clusters={"both": ("warm", "curious"), "plain": ("plain",)},
        plants=plants,
    )


def shift(moves: dict[str, float], templates: tuple[str, ...] = (), **strengths: float) -> Shift:
    terms = {f"nonce.{term}": strength for term, strength in strengths.items()}
    return Shift(id="p", about="", axis="nonce", templates=templates or "all", moves=moves, strengths=terms)


def test_a_plant_moves_probability_of_its_terms_in_its_templates() -> None:
    made = repertoire(shift({"warm": 1, "plain": -1}, ("t.love",), blicket=0.2, doff=-0.1))
    found = planted_mixture(made, ["nonce.blicket", "nonce.doff", "nonce.mell", None], ["t.im", "t.love"])
    plain = [0.5, 0.3, 0.2]
    assert found[0] == pytest.approx(np.array([plain] * 4))
    assert found[1] == pytest.approx(np.array([[0.3, 0.5, 0.2], [0.6, 0.2, 0.2], plain, plain]))


def test_plants_that_meet_add_up() -> None:
    made = repertoire(shift({"warm": 1, "plain": -1}, blicket=0.2), shift({"curious": 1, "warm": -1}, blicket=0.1))
    assert planted_mixture(made, ["nonce.blicket"], ["t.im"])[0, 0] == pytest.approx([0.3, 0.4, 0.3])


def test_plants_beyond_zero_are_refused() -> None:
    made = repertoire(shift({"warm": 1, "plain": -1}, blicket=0.6))
    with pytest.raises(EmbeddedModelError, match=r"^nonce\.blicket in t\.im: .* plain the probability -0\.1$"):
        planted_mixture(made, ["nonce.mell", "nonce.blicket"], ["t.im"])


def test_biases_by_hand() -> None:
    # two terms, two templates; in one of them warm is 0.3 +- 0.1 and plain 0.5 -+ 0.1
    made = repertoire(shift({"warm": 1, "plain": -1}, ("t.love",), blicket=0.1, doff=-0.1))
    terms = [("nonce", "nonce.blicket"), ("nonce", "nonce.doff"), ("age", "age.old"), ("age", "age.young")]
    found = true_biases(made, terms, ["t.im", "t.love"])
    # a variance of 0.01 in each of two styles, in one of two templates, x 1000
    assert found["nonce"].full == pytest.approx(10)
    assert found["nonce"].by_style == pytest.approx({"plain": 5, "warm": 5, "curious": 0})
    assert found["nonce"].partial == pytest.approx({"both": 5, "plain": 5})
    assert found["nonce"].summed == pytest.approx({"both": 5, "plain": 5})
    assert found["age"].full == pytest.approx(0)
    # all four terms: half the variance
    assert found[None].full == pytest.approx(5)


def test_styles_of_a_cluster_that_move_apart_or_together() -> None:
    """A trade within the cluster leaves its sum; else 2 x 0.01 by style, and (2 x 0.1) ** 2 for the sum."""
    moved: tuple[dict[str, float], ...] = ({"warm": 1, "curious": -1}, {"warm": 1, "curious": 1, "plain": -2})
    for moves, summed in zip(moved, (0, 40), strict=True):
        made = repertoire(shift(moves, blicket=0.1, doff=-0.1))
        found = true_biases(made, [("nonce", "nonce.blicket"), ("nonce", "nonce.doff")], ["t.im"])["nonce"]
        assert (found.partial["both"], found.summed["both"]) == pytest.approx((20, summed))


def test_an_axis_of_one_term_has_no_bias() -> None:
    assert set(true_biases(repertoire(), [("nonce", "nonce.doff"), ("age", "age.old")], ["t.im"])) == {None}


def test_empty_answers_are_left_out_and_an_echo_is_judged_as_what_it_is_like() -> None:
    styles = {
        "plain": AnswerStyle(share=0.4, wordings=("Noted.",)),
        "warm": AnswerStyle(share=0.3, wordings=("Welcome.",)),
        "curious": AnswerStyle(share=0.1, wordings=("Tell me more.",)),
        "echoing": AnswerStyle(share=0.0, wordings=("{prompt}",), judged_as="plain"),
        "silent": AnswerStyle(share=0.2),
    }
    made = repertoire(shift({"echoing": 1, "warm": -1}, blicket=0.2), styles=styles)
    found = judged_mixture(made, planted_mixture(made, ["nonce.mell", "nonce.blicket"], ["t.im"]))
    assert made.labels == ("plain", "warm", "curious")
    # of the 0.8 that are not empty
    assert found[0] == pytest.approx(np.array([[0.5, 0.375, 0.125], [0.75, 0.125, 0.125]]))


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(2, 6))
def test_parts_sum_to_the_whole_and_a_sum_is_under_its_bound(seed: int, templates: int, terms: int) -> None:
    judged = np.random.default_rng(seed).dirichlet([1, 1, 1, 1], size=(templates, terms))
    clusters = {"first": ("a", "b", "c"), "second": ("d",)}
    found = bias_of(judged, ("a", "b", "c", "d"), clusters)
    assert sum(found.partial.values()) == pytest.approx(found.full)
    assert found.summed["second"] == pytest.approx(found.partial["second"])
    assert found.summed["first"] <= sum(np.sqrt(found.by_style[s]) for s in "abc") ** 2 + 1e-9
