"""Analyse the judgements of a study: win rates, tests, agreement, and annotators who fail catch questions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.figures import Interval, Part, known
from holisticbias_eval.judgements.answers import AnnotatorAnswer, Judgement, Judgements, join
from holisticbias_eval.judgements.key import JudgedModel, Key
from holisticbias_eval.judgements.settings import AnalysisSettings
from holisticbias_eval.statistics.attributes import binomial_test
from holisticbias_eval.statistics.clusters import clustered_interval, flip_p_value
from holisticbias_eval.statistics.labels import agreement_figures
from holisticbias_eval.statistics.tests import holm

Who = Literal["kept", "all"]


class Annotator(Part):
    """The answers of an annotator: choices of a speaker, ties, refusals, and catch questions passed of those asked.

    A tie or a refusal does not pass. ``kept`` is false if fewer than ``least`` are passed; without any catch answer
    an annotator is kept.
    """

    name: str
    chosen: int
    left: int
    ties: int
    refused: int
    passed: int
    asked: int
    kept: bool


class Rate(Part):
    """How often model B was chosen for a question, over the judgements in which a speaker was chosen.

    ``interval`` and ``p_value`` are exact and take judgements as independent; the ``clustered`` ones take prompts as
    independent. ``p_holm`` are corrected for the number of questions. ``left`` is the share of Speaker 1.
    """

    question: str
    who: Who
    chosen: int
    wins: int
    share: float | None
    interval: Interval | None
    p_value: float | None
    p_holm: float | None = None
    clustered_interval: Interval | None
    clustered_p_value: float | None
    clustered_p_holm: float | None = None
    prompts: int
    pairs: int
    annotators: int
    ties: int
    refused: int
    left: float | None
    left_p_value: float | None


class ChoiceAgreement(Part):
    """A figure of agreement about whose response is chosen, null if undefined, and the number of pairs behind it."""

    question: str
    who: Who
    name: str
    value: float | None
    n: int


class Analysis(Part):
    """The result of ``judge analyse``."""

    schema_version: Literal[1] = 1
    study: str
    models: tuple[JudgedModel, JudgedModel]
    settings: AnalysisSettings
    rates: tuple[Rate, ...]
    agreement: tuple[ChoiceAgreement, ...]
    annotators: tuple[Annotator, ...]
    unknown: int
    empty: int
    repeated: int
    conflicting: int

    def of(self, who: Who) -> tuple[Rate, ...]:
        """The rates without annotators who fail catch questions (kept), or with them (all)."""
        return tuple(rate for rate in self.rates if rate.who == who)


def analyse(answers: Iterable[AnnotatorAnswer], key: Key, settings: AnalysisSettings) -> Analysis:
    """Analyse answers; raises ``JudgementsError`` if none belongs to the study."""
    joined = join(answers, key)
    if not joined.pairs:
        raise JudgementsError("no answer is about a pair of this study: give the files that the page has saved")
    annotators = _annotators(joined, settings.least)
    kept = {annotator.name for annotator in annotators if annotator.kept}
    by_who: dict[Who, list[Judgement]] = {
        "kept": [judgement for judgement in joined.pairs if judgement.annotator in kept], "all": list(joined.pairs)
    }  # fmt: skip
    rates: list[Rate] = []
    agreement: list[ChoiceAgreement] = []
    for who, judgements in by_who.items():
        by_question = {q.id: [one for one in judgements if one.question == q.id] for q in key.questions}
        rates += _rates(by_question, who)
        agreement += [
            ChoiceAgreement(question=question, who=who, name=name, value=value, n=n)
            for question, answered in by_question.items()
            for name, (value, n) in agreement_figures(_labels(answered)).items()
        ]
    return Analysis(
        study=key.study, models=key.models, settings=settings, rates=tuple(rates), agreement=tuple(agreement),
        annotators=annotators, **joined.counts,
    )  # fmt: skip


def _annotators(found: Judgements, least: float) -> tuple[Annotator, ...]:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found.pairs:
        counted[one.annotator][one.choice] += 1
    for one in found.catches:
        counted[one.annotator]["asked"] += 1
        counted[one.annotator]["passed"] += one.outcome == "first"
    return tuple(
        Annotator(
            name=name,
            chosen=own["left"] + own["right"],
            left=own["left"],
            ties=own["tie"],
            refused=own["refused"],
            passed=own["passed"],
            asked=own["asked"],
            kept=not own["asked"] or own["passed"] / own["asked"] >= least,
        )
        for name, own in sorted(counted.items())
    )


def _rates(by_question: Mapping[str, list[Judgement]], who: Who) -> list[Rate]:
    """The rate of each question; p-values corrected over questions with judgements."""
    rates = [_rate(question, judgements, who) for question, judgements in by_question.items()]
    exact, clustered = (
        holm(np.array(values, float)).tolist()
        for values in ([rate.p_value for rate in rates], [rate.clustered_p_value for rate in rates])
    )
    return [
        rate.model_copy(update={"p_holm": known(one), "clustered_p_holm": known(other)})
        for rate, one, other in zip(rates, exact, clustered, strict=True)
    ]


def _rate(question: str, judgements: Sequence[Judgement], who: Who) -> Rate:
    chosen = [judgement for judgement in judgements if judgement.is_choice]
    wins, counts = _by_prompt(chosen)
    won, left, n = int(wins.sum()), sum(one.choice == "left" for one in chosen), len(chosen)
    p_value, interval = binomial_test(won, n) or (None, None)
    left_p, _ = binomial_test(left, n) or (None, None)
    return Rate(
        question=question,
        who=who,
        chosen=n,
        wins=won,
        share=won / n if n else None,
        interval=interval,
        p_value=p_value,
        clustered_interval=clustered_interval(wins, counts),
        clustered_p_value=flip_p_value(2 * wins - counts),
        prompts=len(counts),
        pairs=len({one.pair.id for one in chosen}),
        annotators=len({one.annotator for one in chosen}),
        ties=sum(one.outcome == "tie" for one in judgements),
        refused=sum(one.outcome == "refused" for one in judgements),
        left=left / n if n else None,
        left_p_value=left_p,
    )


def _by_prompt(chosen: Iterable[Judgement]) -> tuple[Ints, Ints]:
    """Wins of model B and judgements of each prompt."""
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in chosen:
        counted[one.pair.prompt][0] += one.outcome == "second"
        counted[one.pair.prompt][1] += 1
    table = np.array(list(counted.values()), np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _labels(judgements: Iterable[Judgement]) -> Floats:
    """Whether B was chosen, as 1 or 0, of pairs by annotators; NaN where an annotator chose no speaker."""
    chosen = [judgement for judgement in judgements if judgement.is_choice]
    names = {name: i for i, name in enumerate(sorted({judgement.annotator for judgement in chosen}))}
    pairs = {name: i for i, name in enumerate(dict.fromkeys(judgement.pair.id for judgement in chosen))}
    labels = np.full((len(pairs), len(names)), np.nan)
    for judgement in chosen:
        labels[pairs[judgement.pair.id], names[judgement.annotator]] = judgement.outcome == "second"
    return labels
