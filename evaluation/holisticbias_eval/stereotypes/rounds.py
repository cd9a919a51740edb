"""Ask a generator for sentences in rounds: round r sends the r-th request of every attribute that lacks sentences."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from holisticbias_eval.models.generation.requests import WITHHELD, Generator, PromptRequests, Responses, respond_all
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.judging import JudgingOptions
from holisticbias_eval.stereotypes import acceptance
from holisticbias_eval.stereotypes.few_shot import LONGEST, Shots, cut_reply, cut_sentence, read_list, write_prompt
from holisticbias_eval.stereotypes.record import Returned, Round
from holisticbias_eval.stereotypes.settings import AcceptanceSettings, RequestSettings
from holisticbias_eval.stereotypes.targets import GroupTerm, Target, draw_term, sample_number


@dataclass
class Wanted:
    """An attribute that needs sentences, and those accepted so far: their keys, and their number by group.

    ``terms`` are those of its specification by group, and ``all_terms`` all of them in one list.
    """

    target: Target
    terms: Mapping[str, tuple[GroupTerm, ...]]
    all_terms: Sequence[str]
    seen: set[str] = field(default_factory=set)
    groups: Counter[str] = field(default_factory=Counter)

    def has_enough(self, settings: RequestSettings) -> bool:
        """Whether the attribute needs no more requests."""
        enough = all(self.groups[group] >= settings.per_group for group in self.terms)
        return enough and self.groups.total() >= settings.per_attribute

    def count(self, rows: Sequence[Returned]) -> None:
        """Count accepted rows."""
        for row in rows:
            if row.accepted:
                self.seen.add(acceptance.repeat_key(row.sentence or "", row.term))
                self.groups[row.group or ""] += 1


@dataclass(frozen=True)
class SentenceJudging:
    """The rules of sentences, the classifiers among them, and the limits of length."""

    rules: tuple[acceptance.Refusal, ...] = acceptance.RULES
    classifiers: tuple[acceptance.LabelRules, ...] = ()
    limits: AcceptanceSettings = field(default_factory=AcceptanceSettings)

    @property
    def settings(self) -> Mapping[str, str]:
        """The rules and the limits, for the record of a run."""
        words = f"{self.limits.least_words} to {self.limits.most_words}"
        return {"rules": ", ".join(rule.id for rule in self.rules), "words": words}

    def refusing(
        self, sentence: str, term: str, wanted: Wanted, seen: Collection[str], shots: Sequence[str] = ()
    ) -> str | None:
        """The id of the rule that refuses a sentence, null if all accept it; classifiers are asked later."""
        about = acceptance.Candidate(
            sentence, term, wanted.target.attribute, wanted.all_terms, shots, seen, self.limits
        )
        return acceptance.refusing_rule(about, self.rules)

    def classified(self, rows: Sequence[Returned]) -> list[Returned]:
        """The rows, of which classifiers refuse some that were accepted."""
        judged = list(rows)
        for classifier in self.classifiers:
            places = [place for place, row in enumerate(judged) if row.accepted]
            rules = classifier.refusing([judged[place].sentence or "" for place in places])
            for place, rule in zip(places, rules, strict=True):
                if rule is not None:
                    judged[place] = replace(judged[place], accepted=False, rule=rule)
        return judged


def start_judging(settings: AcceptanceSettings, options: JudgingOptions, display: Display) -> SentenceJudging:
    """Start the classifiers of sentences; raises ``EvaluationError`` for an unknown rule or label."""
    rules = acceptance.select_rules(settings.rules)
    classifiers = tuple(acceptance.start_label_rules(name, options, display) for name in settings.classifier)
    return SentenceJudging(rules, classifiers, settings)


@dataclass(frozen=True, slots=True)
class _Ask:
    """One request: its attribute, number, term, text, and the examples in it."""

    wanted: Wanted
    number: int
    drawn: GroupTerm
    prompt: str
    shots: tuple[str, ...]


def run_rounds(
    attributes: Sequence[Wanted],
    generator: Generator,
    shots: Shots,
    settings: RequestSettings,
    judging: SentenceJudging,
    earlier: Mapping[int, Round],
    keep: Callable[[Sequence[Returned]], None],
    display: Display,
) -> list[Returned]:
    """Ask until every attribute has enough sentences or no requests are left, and return the log.

    ``settings.ask`` is a ``RequestForm``. ``earlier`` are rounds of an interrupted run, which are not asked again;
    ``keep`` takes the log after each round.
    """
    log: list[Returned] = []
    for number in range(settings.requests):
        lacking = [wanted for wanted in attributes if not wanted.has_enough(settings)]
        if not lacking:
            break
        known = earlier.get(number, {})
        asks = _write_asks([wanted for wanted in lacking if wanted.target not in known], number, shots, settings)
        rows = {wanted.target: list(known.get(wanted.target, ())) for wanted in lacking}
        if asks:
            what = f"Request {number + 1} for {len(asks):,} of {len(attributes):,} attributes"
            for row in _answer(asks, generator, settings, judging, what, display):
                rows[row.target].append(row)
        for wanted in lacking:
            wanted.count(rows[wanted.target])
            log += rows[wanted.target]
        if asks:
            keep(log)
    return log


def _write_asks(attributes: Sequence[Wanted], number: int, shots: Shots, settings: RequestSettings) -> list[_Ask]:
    drawn = [draw_term(settings.seed, wanted.target, number, wanted.terms) for wanted in attributes]
    pairs = [(term.term, wanted.target.attribute) for term, wanted in zip(drawn, attributes, strict=True)]
    asks = []
    for wanted, term, pair, chosen in zip(attributes, drawn, pairs, shots.choose(pairs), strict=True):
        prompt = write_prompt(settings.ask, chosen, pair, settings.samples)
        asks.append(_Ask(wanted, number, term, prompt, tuple(shot.closed for shot in chosen)))
    return asks


def _answer(
    asks: Sequence[_Ask],
    generator: Generator,
    settings: RequestSettings,
    judging: SentenceJudging,
    what: str,
    display: Display,
) -> list[Returned]:
    """Send the requests of a round, and judge what is returned."""
    each = 1 if settings.ask == "list" else settings.samples
    numbers = [sample_number(ask.wanted.target, ask.number, i) for ask in asks for i in range(each)]
    prompts = [text for ask in asks for text in [ask.prompt] * each]
    requests = PromptRequests(prompts, [""] * len(prompts), np.array(numbers, np.int32))
    with display.progress(what, len(prompts)) as advance:
        responses = respond_all(requests, generator, advance)
    rows = []
    for i, ask in enumerate(asks):
        seen, digest = set(ask.wanted.seen), hashlib.sha256(ask.prompt.encode("utf-8", "replace")).hexdigest()
        texts = _texts(responses, range(i * each, (i + 1) * each), settings)
        for sample, (text, sentence, unread) in enumerate(texts):
            rule = unread
            if sentence is not None:
                rule = judging.refusing(sentence, ask.drawn.term, ask.wanted, seen, ask.shots)
                if rule is None:
                    seen.add(acceptance.repeat_key(sentence, ask.drawn.term))
            target, drawn = ask.wanted.target, ask.drawn
            about = (target.specification, target.attribute_set, target.attribute, drawn.group, drawn.slot, drawn.term)
            rows.append(Returned(ask.number, *about, sample, digest, text, sentence, rule is None, rule))
    return judging.classified(rows)


def _texts(
    responses: Responses, places: range, settings: RequestSettings
) -> Iterator[tuple[str, str | None, str | None]]:
    """The texts of one request: each as returned, its sentence, and the rule if none could be read."""
    for place in places:
        text = responses.text[place]
        if responses.finish[place] in WITHHELD:
            yield text[:LONGEST], None, "refused"
        elif settings.ask != "list":
            yield text[:LONGEST], (cut_reply if settings.ask == "chat" else cut_sentence)(text), None
        elif (sentences := read_list(text, settings.samples)) is None:
            yield text[:LONGEST], None, "malformed-list"
        else:
            yield from ((sentence, cut_sentence(sentence), None) for sentence in sentences or [""])
