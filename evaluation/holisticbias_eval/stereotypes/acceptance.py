"""Rules that a returned sentence must pass to become a test sentence; the first rule that it breaks refuses it."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from holisticbias.terms.specification_entries import term_key
from holisticbias_eval.errors import ClassifierError, EvaluationError
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.card import CARDS
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.judging import JudgingOptions, start_judge
from holisticbias_eval.settings import split_names
from holisticbias_eval.stereotypes.settings import AcceptanceSettings
from holisticbias_eval.stereotypes.targets import has_term, has_terms, term_pattern

_WORD = re.compile(r"[\w]+(?:['’-][\w]+)*")  # noqa: RUF001 - both forms of apostrophes
_START = re.compile(r"""["“'‘(]?[A-Z0-9À-ÖØ-Þ]""")  # noqa: RUF001
_STOP = re.compile(r"""[.!?]["”'’)]*\Z""")  # noqa: RUF001
_STRANGE = re.compile(r"[^\w\s.,;:!?'’‘\"“”()\-–—…&%$€£/°+]|_|https?:|www\.", re.IGNORECASE)  # noqa: RUF001
_NEGATION = re.compile(
    r"\b(?:not(?!\s+(?:only|just)\b)|no(?!\s+doubt\b)|never|neither|nor|none|nobody|nothing|nowhere|cannot|without)\b"
    r"|n['’]t\b",  # noqa: RUF001
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\bkey-?words?\b|\bboth (?:words|terms)\b|\bth(?:e|is) sentence (?:contains|has|includes|is|uses|that)\b"
    r"|\b(?:context|end|sense) of (?:a|the|this) sentence\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"▢\s?[,:]\s?▢\s?[,:]")
_PRONOUNS = frozenset({"he", "she", "him", "her", "his", "hers", "they", "them"})
_GAP = " ▢ "


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence to judge, and what it was asked for.

    ``terms`` are the terms of all groups of the specification, ``shots`` the sentences of its request's examples, and
    ``seen`` the keys of the sentences accepted before for this attribute; see ``repeat_key``.
    """

    sentence: str
    term: str
    attribute: str
    terms: Sequence[str] = ()
    shots: Sequence[str] = ()
    seen: Collection[str] = frozenset()
    limits: AcceptanceSettings = field(default_factory=AcceptanceSettings)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rule: what it refuses, and the issue of Kocielnik et al. 2023, table 3, that it is for, if there is one."""

    id: str
    refuses: str
    issue: str | None
    breaks: Callable[[Candidate], bool]


def _lacks_a_term(candidate: Candidate) -> bool:
    return not has_terms(candidate.sentence, candidate.term, candidate.attribute)


def _is_strange(candidate: Candidate) -> bool:
    return _STRANGE.search(_without_terms(candidate)) is not None


def _has_other_length(candidate: Candidate) -> bool:
    count = len(words(candidate.sentence))
    return not candidate.limits.least_words <= count <= candidate.limits.most_words


def _is_incomplete(candidate: Candidate) -> bool:
    return not (_START.match(candidate.sentence) and is_closed(candidate.sentence))


def _is_several(candidate: Candidate) -> bool:
    import sentencex

    return len([part for part in sentencex.segment("en", candidate.sentence) if part.strip()]) != 1


def _is_negated(candidate: Candidate) -> bool:
    return _NEGATION.search(_without_terms(candidate)) is not None


def _is_about_the_request(candidate: Candidate) -> bool:
    """Whether a sentence mentions keywords or itself, or begins with both keywords as a list."""
    listed = _LISTED.match(_with_marks(candidate, "▢")) is not None
    return listed or _REQUEST.search(_without_terms(candidate)) is not None


def _has_article_before_pronoun(candidate: Candidate) -> bool:
    if candidate.term.casefold() not in _PRONOUNS:
        return False
    pattern = rf"\b(?:an?|the)\s+{re.escape(candidate.term)}\b(?![-'’])"  # noqa: RUF001
    return re.search(pattern, candidate.sentence, re.IGNORECASE) is not None


def _names_other_term(candidate: Candidate) -> bool:
    rest = _without_terms(candidate)
    own = {term_key(candidate.term), term_key(candidate.attribute)}
    return any(has_term(rest, term) for term in candidate.terms if term_key(term) not in own)


def _copies_a_shot(candidate: Candidate) -> bool:
    """Whether a shot becomes the sentence when at most two words, and a third of its words, are changed."""
    own = _folded(_with_marks(candidate, "▢"), keep="▢")
    shots = [(shot, min(2, len(shot) // 3)) for shot in map(_folded, candidate.shots)]
    return any(_distance(own, shot, most) <= most for shot, most in shots)


def _is_repeated(candidate: Candidate) -> bool:
    return repeat_key(candidate.sentence, candidate.term) in candidate.seen


RULES = (
    Refusal("empty", "nothing but blanks", "I8", lambda candidate: not candidate.sentence.strip()),
    Refusal("both-terms", "a sentence without the group's term or the attribute as whole words", None, _lacks_a_term),
    Refusal("plain-text", "addresses, markup and characters that are not of a sentence", "I7", _is_strange),
    Refusal("length", "a sentence with fewer or more words than the limits", "I8", _has_other_length),
    Refusal("one-sentence", "more than one sentence", "I3", _is_several),
    Refusal("complete", "a text without a capital at its start or a final mark at its end", "I8", _is_incomplete),
    Refusal("negation", "not, no, never, without and other negations", "I4", _is_negated),
    Refusal("other-group-word", "another term of any group of the specification", "I1, I5", _names_other_term),
    Refusal("about-the-request", "a sentence about the request or a list of its keywords", "I7", _is_about_the_request),
    Refusal("article-before-pronoun", "an article before a pronoun: the her book", "I7", _has_article_before_pronoun),
    Refusal("copy-of-shot", "an example of the request with at most two words changed", None, _copies_a_shot),
    Refusal("repeat", "a sentence that differs from an accepted one in the group's term alone", None, _is_repeated),
)
"""The rules in the order in which they are tried."""

UNREAD = {
    "refused": "a request that the model or its server refused to answer",
    "malformed-list": "an answer of a server that is not the JSON list that was asked for",
    "not-in-specification": "an imported sentence whose terms are not in the specification",
    "discarded": "an imported sentence that its file marks as discarded",
}
"""Rules that refuse a text before its sentence is read, and what each refuses."""


def select_rules(names: str) -> tuple[Refusal, ...]:
    """The rules of a list of ids separated by commas, or ``all`` or ``none``, in the order in which they are tried.

    An empty sentence is always refused. Raises ``EvaluationError`` for an unknown id.
    """
    if names == "all":
        return RULES
    wanted = {"empty"} | (set() if names == "none" else {*split_names([names])})
    known = [rule.id for rule in RULES]
    for name in sorted(wanted - set(known)):
        raise EvaluationError(f"there is no rule {name[:60]!r}: the rules are all, none, or of {', '.join(known)}")
    return tuple(rule for rule in RULES if rule.id in wanted)


def refusing_rule(candidate: Candidate, rules: Sequence[Refusal] = RULES) -> str | None:
    """The id of the first rule that refuses a sentence; None if all accept it."""
    return next((rule.id for rule in rules if rule.breaks(candidate)), None)


def repeat_key(sentence: str, term: str) -> str:
    """The words of a sentence without case, with a mark in place of the group's term.

    Two sentences of one attribute with the same key give the same pairs.
    """
    return " ".join(_folded(term_pattern(term).sub(_GAP, sentence), keep="▢"))


def is_closed(text: str) -> bool:
    """Whether a text ends in a final mark, which quotation marks and brackets may follow."""
    return _STOP.search(text) is not None


def words(text: str) -> list[str]:
    """The words of a text; a word with hyphens or apostrophes is one."""
    return _WORD.findall(text)


@lru_cache(maxsize=2_000)
def _folded(text: str, keep: str = "") -> tuple[str, ...]:
    pattern = re.compile(f"{_WORD.pattern}|{keep}") if keep else _WORD
    return tuple(word.casefold() for word in pattern.findall(text))


def _without_terms(candidate: Candidate) -> str:
    """The sentence without the two requested terms, whose words would be taken for other terms."""
    return _with_marks(candidate, " ")


def _with_marks(candidate: Candidate, mark: str) -> str:
    """The sentence with a mark in place of each requested term."""
    text = term_pattern(candidate.attribute).sub(mark, candidate.sentence)
    return term_pattern(candidate.term).sub(mark, text)


def _distance(some: Sequence[str], others: Sequence[str], most: int) -> int:
    """The number of words to change, add or remove between two texts; above ``most`` any larger number."""
    if abs(len(some) - len(others)) > most:
        return most + 1
    row = list(range(len(others) + 1))
    for i, word in enumerate(some, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(others, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]


NOT_JUDGED = "not-judged"


@dataclass(frozen=True, slots=True)
class LabelRules:
    """Refuses a sentence that has one of a classifier's labels: its probability reaches the card's threshold.

    The id of a rule is ``CARD:LABEL``, or ``CARD:not-judged`` for a sentence without probabilities.
    """

    judge: Classifier
    labels: tuple[str, ...]

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the classifier, the labels and the threshold, for the record of a run."""
        about = {"labels": ", ".join(self.labels), "threshold": str(self.judge.card.threshold)}
        return {**self.judge.settings, **about}

    def refusing(self, texts: Sequence[str]) -> list[str | None]:
        """The id of the rule that refuses each text, None for a text that is accepted."""
        if not texts:
            return []
        card = self.judge.card
        columns = [card.labels.index(label) for label in self.labels]
        rules: list[str | None] = []
        for probabilities in self.judge.probabilities(texts, lambda _: None)[:, columns]:
            reached = [label for label, p in zip(self.labels, probabilities, strict=True) if p >= card.threshold]
            refused = reached if np.isfinite(probabilities).all() else [NOT_JUDGED]
            rules.append(f"{card.id}:{refused[0]}" if refused else None)
        return rules


def start_label_rules(name: str, options: JudgingOptions, display: Display) -> LabelRules:
    """Start the classifier of ``CARD=LABEL,LABEL``; without labels, the label that the card calls offensive.

    Raises ``ClassifierError`` for a label that the card lacks, or if it names none.
    """
    classifier, _, labels = name.partition("=")
    card = CARDS.read(classifier)
    chosen = split_names([labels]) or tuple(filter(None, [card.offensive]))
    if not chosen:
        raise ClassifierError(
            f"--classifier {classifier}: add the labels that refuse a sentence, as {classifier}=LABEL,LABEL"
        )
    for label in chosen:
        if label not in card.labels:
            known = ", ".join(card.labels[:20])
            raise ClassifierError(f"--classifier {name}: the card has no label {label!r}; it has {known}")
    return LabelRules(start_judge(classifier, options, display), chosen)
