"""The shipped collection and prompts: complete, in the form of BOLD's prompts, unique, and balanced between groups."""

from __future__ import annotations

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
OF_PERSONS = {"gender", "race"}
COLLECTION: dict[str, Any] = yaml.safe_load((ROOT / "collections" / "bold.yaml").read_text("utf-8"))
FILES: dict[str, dict[str, Any]] = {
    domain: yaml.safe_load((ROOT / "prompts" / f"{domain}.yaml").read_text("utf-8")) for domain in GROUPS
}
PROMPTS: list[Prompt] = [prompt for file in FILES.values() for prompt in file["prompts"]]
WORD = r"[A-Za-z0-9](?:[A-Za-z0-9'-]|(?<=\d),(?=\d))*"
PLAIN = re.compile(rf"(?=[A-Z]){WORD}(,? {WORD}'?)*\.")  # words and commas, and one period at the end
# the two lists of the paper, section 4.5
FEMALE = frozenset({"she", "her", "hers", "herself", "woman", "women", "she's", "girl", "girls"})
MALE = frozenset({"he", "him", "his", "himself", "man", "men", "he's", "boy", "boys"})


def sentence(prompt: Prompt) -> str:
    """The prompt and its continuation."""
    return f"{prompt['text']} {prompt['continuation']}"


def anonymous(prompt: Prompt) -> str:
    """The sentence with XYZ for the subject."""
    return re.sub(re.escape(prompt["subject"]), "XYZ", sentence(prompt), flags=re.IGNORECASE)


def is_five_words_and_subject(prompt: Prompt) -> bool:
    """Whether a prompt has the subject after at most five words, and five words besides it."""
    before, found, after = prompt["text"].partition(prompt["subject"])
    whole = bool(found) and (not before or before[-1] == " ") and not after[:1].isalnum()
    words = len(prompt["text"].split()) - len(prompt["subject"].split())
    return whole and len(before.split()) <= 5 and words == COLLECTION["prompt_words"]


def by_group(domain: str) -> dict[str, list[Prompt]]:
    """The prompts of each of a domain's groups."""
    groups: dict[str, list[Prompt]] = {g["id"]: [] for g in COLLECTION["groups"] if g["domain"] == domain}
    for prompt in FILES[domain]["prompts"]:
        groups[prompt["group"]].append(prompt)
    return groups


def gendered(prompts: list[Prompt], words: frozenset[str]) -> int:
    """The number of sentences with one of the words."""
    return sum(not words.isdisjoint(re.findall(r"[a-z']+", sentence(prompt).lower())) for prompt in prompts)


def means(domain: str, value: Callable[[Prompt], float]) -> list[float]:
    """The mean value of each of a domain's groups."""
    return [fmean(map(value, prompts)) for prompts in by_group(domain).values()]


def repeated(key: str, prompts: list[Prompt]) -> list[str]:
    """The values that occur more than once, in any case."""
    return [value for value, n in Counter(prompt[key].lower() for prompt in prompts).items() if n > 1]


def test_groups_are_those_of_the_paper() -> None:
    assert Counter(group["domain"] for group in COLLECTION["groups"]) == GROUPS
    assert len({group["id"] for group in COLLECTION["groups"]}) == 43
    assert (COLLECTION["prompt_words"], COLLECTION["term_within"], COLLECTION["least_words"]) == (5, 8, 8)


@pytest.mark.parametrize("group", COLLECTION["groups"], ids=lambda group: group["id"])
def test_group_names_pages_and_whether_it_needs_a_person(group: dict[str, Any]) -> None:
    assert any(group["pages"].values())
    assert group.get("needs_person", False) == (group["domain"] in OF_PERSONS)


@pytest.mark.parametrize("domain", GROUPS)
def test_each_group_has_ten_prompts_or_more(domain: str) -> None:
    assert FILES[domain]["domain"] == domain
    assert all(
        prompt["group"] == f"bold.{prompt['id'].split('.')[1].rpartition('-')[0]}"
        for prompt in FILES[domain]["prompts"]
    )
    assert min(map(len, by_group(domain).values())) >= 10


def test_prompts_are_five_words_and_their_subject() -> None:
    assert [prompt["id"] for prompt in PROMPTS if not is_five_words_and_subject(prompt)] == []


def test_prompts_and_continuations_are_one_plain_sentence() -> None:
    assert [prompt["id"] for prompt in PROMPTS if not PLAIN.fullmatch(sentence(prompt))] == []
    assert [p["id"] for p in PROMPTS if not 8 <= len(p["continuation"].split()) <= 25] == []


@pytest.mark.parametrize("key", ["id", "text", "continuation"])
def test_no_prompt_is_repeated(key: str) -> None:
    assert repeated(key, PROMPTS) == []


def test_no_person_is_in_two_prompts() -> None:
    assert repeated("subject", [p for domain in OF_PERSONS for p in FILES[domain]["prompts"]]) == []


@pytest.mark.parametrize("domain", GROUPS)
def test_no_group_is_more_positive_or_longer_than_the_others(domain: str) -> None:
    vader = SentimentIntensityAnalyzer()
    compound = means(domain, lambda prompt: vader.polarity_scores(anonymous(prompt))["compound"])
    assert compound == pytest.approx([fmean(compound)] * len(compound), abs=0.15)
    words = means(domain, lambda prompt: len(prompt["continuation"].split()))
    assert words == pytest.approx([fmean(words)] * len(words), abs=2.5)


@pytest.mark.parametrize("domain", [domain for domain in GROUPS if domain != "gender"])
def test_gendered_words_are_balanced_in_each_group(domain: str) -> None:
    counts = {group: (gendered(p, FEMALE), gendered(p, MALE)) for group, p in by_group(domain).items()}
    assert len(set(counts.values())) == 1
    assert all(female == male for female, male in counts.values())


def test_actors_and_actresses_have_the_same_number_of_pronouns() -> None:
    groups = by_group("gender")
    counts = {group: (gendered(p, FEMALE), gendered(p, MALE)) for group, p in groups.items()}
    assert counts["bold.american-actresses"] == counts["bold.american-actors"][::-1]
