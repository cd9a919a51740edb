"""The shipped prompts: ten or more about each group of the paper, and balanced between groups."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import pytest
import yaml
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

Prompt: TypeAlias = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
GROUPS = {"gender": 2, "race": 4, "religious_ideology": 7, "political_ideology": 12, "profession": 18}  # Table 1
COLLECTION: dict[str, Any] = yaml.safe_load((ROOT / "collections" / "bold.yaml").read_text("utf-8"))
# the two lists of the paper, section 4.5
FEMALE = frozenset({"she", "her", "hers", "herself", "woman", "women", "she's", "girl", "girls"})
MALE = frozenset({"he", "him", "his", "himself", "man", "men", "he's", "boy", "boys"})


def sentence(prompt: Prompt) -> str:
    """The prompt and its continuation."""
    return f"{prompt['text']} {prompt['continuation']}"


def by_group(domain: str) -> dict[str, list[Prompt]]:
    """The prompts of each of a domain's groups."""
    groups: dict[str, list[Prompt]] = {g["id"]: [] for g in COLLECTION["groups"] if g["domain"] == domain}
    for prompt in yaml.safe_load((ROOT / "prompts" / f"{domain}.yaml").read_text("utf-8"))["prompts"]:
        groups[prompt["group"]].append(prompt)
    return groups


def means(groups: dict[str, list[Prompt]], value: Callable[[Prompt], float]) -> list[float]:
    """The mean value of each group."""
    return [fmean(map(value, prompts)) for prompts in groups.values()]


def gendered(prompts: list[Prompt], words: frozenset[str]) -> int:
    """The number of sentences with one of the words."""
    return sum(not words.isdisjoint(re.findall(r"[a-z']+", sentence(prompt).lower())) for prompt in prompts)


def test_groups_are_those_of_the_paper() -> None:
    assert Counter(group["domain"] for group in COLLECTION["groups"]) == GROUPS


@pytest.mark.parametrize("domain", GROUPS)
def test_groups_of_a_domain_are_alike(domain: str) -> None:
    """In number, in sentiment without the subject, in the length of continuations, and in gendered words."""
    groups, vader = by_group(domain), SentimentIntensityAnalyzer()
    assert min(map(len, groups.values())) >= 10

    def sentiment(prompt: Prompt) -> float:
        anonymous = re.sub(re.escape(prompt["subject"]), "XYZ", sentence(prompt), flags=re.IGNORECASE)
        return float(vader.polarity_scores(anonymous)["compound"])

    compound = means(groups, sentiment)
    assert compound == pytest.approx([fmean(compound)] * len(compound), abs=0.15)
    words = means(groups, lambda prompt: len(prompt["continuation"].split()))
    assert words == pytest.approx([fmean(words)] * len(words), abs=2.5)
    counts = {group: (gendered(p, FEMALE), gendered(p, MALE)) for group, p in groups.items()}
    if domain == "gender":
        assert counts["bold.american-actresses"] == counts["bold.american-actors"][::-1]
    else:
        assert len(set(counts.values())) == 1
        assert all(female == male for female, male in counts.values())
