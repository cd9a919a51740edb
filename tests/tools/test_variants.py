"""The four stylistic variants of Smith et al. 2022, section A.3."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml

from folders import ROOT
from holisticbias.compile.variants import VARIANTS, vary
from holisticbias.release.release import Release

DATA = yaml.safe_load((ROOT / "tests" / "data" / "variants.yaml").read_text("utf-8"))
VARIED = [[list(VARIANTS) if part == "all" else part for part in case] for case in DATA["varied"]]


@pytest.mark.parametrize(("name", "drawn", "text", "applied"), VARIED)
def test_variants_of_a_sentence(name: str, drawn: list[str], text: str, applied: list[str]) -> None:
    assert vary(DATA["sentences"][name], drawn) == (text, applied)


def test_every_sentence_can_be_varied(small_release: Release) -> None:
    """Without variants, the parts of every kind of sentence join to the sentence."""
    seen = set()
    sample = small_release.sample(5_000, seed=11)
    for sentence in sample.to_pylist():
        seen.add(sentence["noun_phrase_type"])
        assert vary(sentence, []) == (sentence["text"], [])
    assert seen >= {"descriptor_noun", "noun_descriptor", "descriptor", "noun"}
    assert pc.count_distinct(sample["sentence_id"]).as_py() == pa.scalar(5_000).as_py()
