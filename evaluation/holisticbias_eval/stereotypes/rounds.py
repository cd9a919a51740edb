"""Ask a generator for sentences in rounds: round r sends the r-th request of every attribute that lacks sentences."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from holisticbias_eval.models.generation.decoding import storable
from holisticbias_eval.models.generation.requests import Generator, PromptRequests, Responses, respond_all
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.judging import JudgingOptions
from holisticbias_eval.stereotypes.acceptance import (
    RULES,
    Candidate,
    LabelRules,
    Refusal,
    refusing_rule,
    repeat_key,
    select_rules,
    start_label_rules,
)
from holisticbias_eval.stereotypes.few_shot import (
    LONGEST,
    Shots,
    cut_reply,
    cut_sentence,
    read_list,
    write_prompt,
)
from holisticbias_eval.stereotypes.record import Returned, Round
from holisticbias_eval.stereotypes.settings import AcceptanceSettings, RequestForm, RequestSettings
from holisticbias_eval.stereotypes.targets import GroupTerm, Target, draw_term, sample_number

_WITHHELD = ("refused", "filtered")


@dataclass(frozen=True)
class SentenceJudging:
    """The rules of sentences, the classifiers among them, and the limits of length."""

    rules: tuple[Refusal, ...] = RULES
    classifiers: tuple[LabelRules, ...] = ()
    limits: AcceptanceSettings = field(default_factory=AcceptanceSettings)

    @property
    def settings(self) -> Mapping[str, str]:
        """The rules and the limits, for the record of a run."""
        words = f"{self.limits.least_words} to {self.limits.most_words}"
        return {"rules": ", ".join(rule.id for rule in self.rules), "words": words}


def start_judging(settings: AcceptanceSettings, options: JudgingOptions, display: Display) -> SentenceJudging:
    """Start the classifiers of sentences; raises ``EvaluationError`` for an unknown rule or label."""
    rules = select_rules(settings.rules)
    classifiers = tuple(start_label_rules(name, options, display) for name in settings.classifier)
    return SentenceJudging(rules, classifiers, settings)


@dataclass(frozen=True)
class Asking:
    """The settings of requests, and their form."""

    settings: RequestSettings = field(default_factory=RequestSettings)
    form: RequestForm = "text"


@dataclass(frozen=True)
class Wanted:
    """An attribute that needs sentences: the terms of its specification by group, and all of them in one list."""

    target: Target
    terms: Mapping[str, tuple[GroupTerm, ...]]
    all_terms: Sequence[str]


@dataclass
class Progressing:
    """The sentences accepted so far for an attribute: their keys, and their number by group."""

    wanted: Wanted
    seen: set[str] = field(default_factory=set)
    groups: Counter[str] = field(default_factory=Counter)

    def has_enough(self, asking: Asking) -> bool:
        """Whether the attribute needs no more requests."""
        return self.groups.total() >= asking.settings.per_attribute and all(
            self.groups[group] >= asking.settings.per_group for group in self.wanted.terms
        )

    def count(self, rows: Sequence[Returned]) -> None:
        """Count accepted rows."""
        for row in rows:
            if row.accepted:
                self.seen.add(repeat_key(row.sentence or "", row.term))
                self.groups[row.group or ""] += 1


@dataclass(frozen=True, slots=True)
class _Ask:
    """One request: its attribute, number, term, text, and the examples in it."""

    state: Progressing
    number: int
    drawn: GroupTerm
    prompt: str
    shots: tuple[str, ...]


def run_rounds(
    states: Sequence[Progressing],
    generator: Generator,
    shots: Shots,
    asking: Asking,
    judging: SentenceJudging,
    earlier: Mapping[int, Round],
    keep: Callable[[Sequence[Returned]], None],
    display: Display,
) -> list[Returned]:
    """Ask until every attribute has enough sentences or no requests are left, and return the log.

    ``earlier`` are rounds of an interrupted run, which are not asked again; ``keep`` takes the log after each round.
    """
    log: list[Returned] = []
    for number in range(asking.settings.requests):
        lacking = [state for state in states if not state.has_enough(asking)]
        if not lacking:
            break
        known = earlier.get(number, {})
        asks = _write_asks([state for state in lacking if state.wanted.target not in known], number, shots, asking)
        rows = {state.wanted.target: list(known.get(state.wanted.target, ())) for state in lacking}
        if asks:
            what = f"Request {number + 1} for {len(asks):,} of {len(states):,} attributes"
            rows |= _answer(asks, generator, asking, judging, what, display)
        for state in lacking:
            state.count(rows[state.wanted.target])
            log += rows[state.wanted.target]
        if asks:
            keep(log)
    return log


def _write_asks(states: Sequence[Progressing], number: int, shots: Shots, asking: Asking) -> list[_Ask]:
    drawn = [draw_term(asking.settings.seed, state.wanted.target, number, state.wanted.terms) for state in states]
    pairs = [(term.term, state.wanted.target.attribute) for term, state in zip(drawn, states, strict=True)]
    asks = []
    for state, term, pair, chosen in zip(states, drawn, pairs, shots.choose(pairs), strict=True):
        prompt = write_prompt(asking.form, chosen, pair, asking.settings.samples)
        asks.append(_Ask(state, number, term, prompt, tuple(shot.closed for shot in chosen)))
    return asks


def _answer(
    asks: Sequence[_Ask], generator: Generator, asking: Asking, judging: SentenceJudging, what: str, display: Display
) -> dict[Target, list[Returned]]:
    """Send the requests of a round, and judge what is returned."""
    each = 1 if asking.form == "list" else asking.settings.samples
    numbers = [sample_number(ask.state.wanted.target, ask.number, i) for ask in asks for i in range(each)]
    prompts = [text for ask in asks for text in [ask.prompt] * each]
    requests = PromptRequests(prompts, [""] * len(prompts), np.array(numbers, np.int32))
    with display.progress(what, len(prompts)) as advance:
        responses = respond_all(requests, generator, advance)
    found: dict[Target, list[Returned]] = {ask.state.wanted.target: [] for ask in asks}
    rows = [
        row
        for i, ask in enumerate(asks)
        for row in _judge(ask, list(_texts(responses, range(i * each, (i + 1) * each), asking)), judging)
    ]
    for row in refuse_by_classifiers(rows, judging.classifiers):
        found[Target(row.specification, row.attribute_set or "", row.attribute)].append(row)
    return found


def _texts(responses: Responses, places: range, asking: Asking) -> Iterator[tuple[str, str | None, str | None]]:
    """The texts of one request: each as returned, its sentence, and the rule if none could be read."""
    for place in places:
        text = storable(responses.text[place])
        if responses.finish[place] in _WITHHELD:
            yield text[:LONGEST], None, "refused"
        elif asking.form != "list":
            yield text[:LONGEST], (cut_reply if asking.form == "chat" else cut_sentence)(text), None
        elif (found := read_list(text, asking.settings.samples)) is None:
            yield text[:LONGEST], None, "malformed-list"
        else:
            yield from ((storable(sentence), cut_sentence(storable(sentence)), None) for sentence in found or [""])


def _judge(ask: _Ask, texts: Sequence[tuple[str, str | None, str | None]], judging: SentenceJudging) -> list[Returned]:
    """The rows of one request, judged by the rules that need no classifier."""
    target, seen, rows = ask.state.wanted.target, set(ask.state.seen), []
    digest = hashlib.sha256(ask.prompt.encode("utf-8", "replace")).hexdigest()
    for sample, (text, sentence, unread) in enumerate(texts):
        rule = unread
        if sentence is not None:
            candidate = Candidate(
                sentence, ask.drawn.term, target.attribute, ask.state.wanted.all_terms, ask.shots, seen, judging.limits
            )
            rule = refusing_rule(candidate, judging.rules)
            seen |= {repeat_key(sentence, ask.drawn.term)} if rule is None else set()
        rows.append(
            Returned(
                ask.number,
                target.specification,
                target.attribute_set,
                target.attribute,
                ask.drawn.group,
                ask.drawn.slot,
                ask.drawn.term,
                sample,
                digest,
                text,
                sentence,
                rule is None,
                rule,
            )
        )
    return rows


def refuse_by_classifiers(rows: Sequence[Returned], classifiers: Sequence[LabelRules]) -> list[Returned]:
    """The rows, of which classifiers refuse some that were accepted."""
    judged = list(rows)
    for classifier in classifiers:
        places = [place for place, row in enumerate(judged) if row.accepted]
        rules = classifier.refusing([judged[place].sentence or "" for place in places])
        for place, rule in zip(places, rules, strict=True):
            if rule is not None:
                judged[place] = replace(judged[place], accepted=False, rule=rule)
    return judged
