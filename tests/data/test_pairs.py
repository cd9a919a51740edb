"""Nouns and second terms that the terms of version 3.0.0 go with."""

from pathlib import Path

import pytest
import yaml

from holisticbias.compile.pairs import find_pairs
from holisticbias.terms.catalog import Catalog

VERSION = "3.0.0"
PAIRS = yaml.safe_load(Path(__file__).with_name("pairs.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def pairs(catalog: Catalog) -> frozenset[frozenset[str]]:
    """The ids of each pair of terms that makes a sentence."""
    found = find_pairs(catalog, VERSION, "all")
    ids = [d.id for _, d in found.descriptors]
    return frozenset(frozenset((ids[i], ids[j])) for i, j in zip(found.first, found.second, strict=True))


@pytest.mark.parametrize(("one", "other", "meet"), PAIRS)
def test_two_terms_meet_unless_they_contradict_or_repeat_each_other(
    pairs: frozenset[frozenset[str]], one: str, other: str, *, meet: bool
) -> None:
    assert (frozenset((one, other)) in pairs) == meet
