"""Sections of reports about invented answers: what measures say of them, draw, and leave out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa

from columns import only, with_column, without
from holisticbias_eval.figures import Figure, Figures, Interval
from holisticbias_eval.judgements.analysis import analyse
from holisticbias_eval.judgements.report import study_report
from holisticbias_eval.judgements.settings import AnalysisSettings, StudySettings
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.readings import TextMethod
from holisticbias_eval.measures.measure import Measure, MeasureSettings, View
from holisticbias_eval.measures.responses.bias_details import corpus_figures
from holisticbias_eval.measures.shares.finding import ShareFigures
from holisticbias_eval.prompts.collections import REFERENCE
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import Paragraph
from tests.evaluation.judgements.made_studies import NAMES as QUESTIONS
from tests.evaluation.judgements.made_studies import answers_of, study
from tests.evaluation.made_answers import HATE, LOVE, QUICK, TEMPLATES, make_answers
from tests.evaluation.made_responses import ALIKE, CLUSTERS, NAMES, audit_texts, judged, made_responses, pity
from tests.evaluation.simulated_groups import METHOD, ZEAL, World, Zeal, domains, texts_table
from tests.evaluation.simulated_stances import StanceWorld, stance_scores

SHARES = ("likelihood_bias", "medians", "love_hate")
WORDED = ("generation_bias", "offensiveness", "prompt_offensiveness", "response_wording")
STANCE = ("stance_contrast",)
STYLES = MeasureSettings(clusters=CLUSTERS)
OVERLAPPING = MeasureSettings(clusters={"one": ("pity", "plain", "wonder"), "two": ("pity", "plain", "praise")})


MOST = 40
"""Rows of a table and marks of a chart that are recorded, besides their number."""


def lines_of(name: str) -> Iterator[str]:
    """Every part of the sections of a case, one per line."""
    for section in SHOWN[name]():
        yield f"section {section.name}\t{section.title} {section.detail} {section.in_terminal}"
        for place, block in enumerate(section.blocks):
            for field in fields(block):
                value, key = getattr(block, field.name), f"{section.name} {place} {type(block).__name__} {field.name}"
                if isinstance(value, tuple) and field.name != "limits":
                    yield f"{key}\t{len(value)}"
                    yield from (f"{key} {i}\t{item!r}" for i, item in enumerate(value[:MOST]))
                else:
                    yield f"{key}\t{value!r}"


def _view(measures: Sequence[Measure], answers: pa.Table, settings: MeasureSettings | None) -> View:
    """The figures of measures and, of generation bias, those of its audit."""
    figures = [figure for measure in measures for figure in measure.figures(answers, settings).figures]
    if settings and MEASURES["generation_bias"] in measures:
        figures += MEASURES["generation_bias"].audit_figures(audit_texts(answers), settings)
    return View(Figures(figures), answers)


def _shown(measures: Sequence[Measure], answers: pa.Table, settings: MeasureSettings | None) -> Iterator[Section]:
    """The notes of measures, and their sections."""
    notes = (Paragraph(note) for measure in measures for note in measure.figures(answers, settings).notes)
    yield Section("notes", "Notes", tuple(notes))
    view = _view(measures, answers, settings)
    for measure in measures:
        yield from measure.sections(view)


def _of(names: Sequence[str], answers: pa.Table, settings: MeasureSettings | None = QUICK) -> Iterator[Section]:
    return _shown([MEASURES[name] for name in names], answers, settings)


def _compared(
    measure: Measure, first: pa.Table, second: pa.Table, settings: MeasureSettings | None = None
) -> tuple[Section, ...]:
    views = [_view((measure,), answers, settings) for answers in (first, second)]
    return measure.compared_sections(Figures(measure.compare(*views)), views[1])


def _shares(shares: Mapping[str, float | None]) -> View:
    """Shares of 1000 pairs of each axis, with intervals that reach 0.04 to either side, and floors of 0.01 to 0.03."""
    figures = []
    for axis, value in shares.items():
        share = Figure(measure=SHARES[0], name="share", keys={"axis": axis}, value=value, unit="share", n=0)
        if value is not None:
            ends = Interval(low=max(0, value - 0.04), high=min(1, value + 0.04))
            floor = {"floor": 0.02, "floor_interval": Interval(low=0.01, high=0.03)}
            share = share.model_copy(update={"n": 1000, "interval": ends, **floor})
            minus = value - (shares.get("nonce") or 0)
            ends = Interval(low=minus - 0.05, high=minus + 0.05)
            figures.append(share.model_copy(update={"name": "minus_nonce", "value": minus, "interval": ends}))
        figures.append(share)
    return View(Figures(figures), make_answers())


FOUND: Sequence[Mapping[str, float | None]] = (
    {"age": 0.051, "ability": 0.9, "religion": 0.049},
    {"age": 0.9, "ability": 0.8, "nonce": 0.7},
    {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5, "f": 0.0, "g": 0.01, "nonce": 0.0},
    {"age": 0.0, "ability": 0.04, "nonce": 0.9},
    {"age": 0.0},
    {"age": 0.5},
    {"age": None, "nonce": None},
    {"nonce": 0.9},
    {"age": 0.9, "nonce": 0.04},
    {"age": 0.9, "ability": 0.3, "religion": 0.52, "body": 0.51, "nonce": 0.5},
    {"age": 1.0, "ability": 1.0, "religion": 1.0, "body": 1.0, "class": 1.0},
)
"""Shares above their floor on all axes, on some and on none."""


def _findings() -> Iterator[Section]:
    for place, shares in enumerate(FOUND):
        shown = ShareFigures(_shares(shares), SHARES[0])
        said = (*shown.finding(), *shown.baseline(), *shown.caveats(), *shown.pooled())
        yield Section(f"shares-{place}", str(shares), tuple(map(Paragraph, said)))


def _other_model(answers: pa.Table) -> pa.Table:
    """The same sentences, scored by another model."""
    nll = answers["nll"].to_numpy() + np.random.default_rng(1).normal(2, 5, answers.num_rows)
    columns = {"nll": nll, "perplexity": np.exp(nll / answers["tokens"].to_numpy())}
    for name, values in columns.items():
        answers = with_column(answers, name, values)
    return answers


def _planted_stance() -> pa.Table:
    """Pairs agree on one axis of four: the first descriptor of it is far from the others."""
    differences = np.random.default_rng(0).normal(0, 0.4, (3, 4, 12, 1)) + np.zeros(6)
    differences[:, 1, 0] += 6
    differences[:, 1, 1] -= 3
    return _renamed(stance_scores(differences), {"axis1": "body_type", "axis3": "nonce"})


def _one_pair_decides() -> pa.Table:
    """Two of three pairs agree on one axis, and the third does not."""
    rng = np.random.default_rng(4)
    differences = rng.normal(0, 0.1, (3, 2, 60, 5))
    agreed, own = rng.normal(size=(2, 60))
    own -= own @ agreed / (agreed @ agreed) * agreed
    differences[:2, 1] += agreed[:, None]
    differences[2, 1] += (own - 0.1 * agreed)[:, None]
    return stance_scores(differences)


def _drawn(seed: int, **world: Any) -> pa.Table:
    return StanceWorld(**world).draw(np.random.default_rng(seed))[0]


def _renamed(answers: pa.Table, axes: Mapping[str, str]) -> pa.Table:
    names = [axes.get(axis, axis) for axis in answers["axis"].to_pylist()]
    return with_column(answers, "axis", names)


def _corpus() -> Iterator[Section]:
    """Responses beside a corpus that has each descriptor ten times as often as the one before, one of them never."""
    view = _view([MEASURES["generation_bias"]], judged(made_responses(NAMES, 20, pity)), STYLES)
    counts = {name: 10**i for i, name in enumerate(n for names in NAMES.values() for n in names)} | {"wug": 0}
    both = View(Figures([*view.figures, *corpus_figures(view, counts)]), view.answers)
    return (part for part in MEASURES["generation_bias"].sections(both) if part.name.startswith("corpus"))


def _two_sides(names: Sequence[str]) -> pa.Table:
    """In the first domain 30 keen texts of a model beside 30 dull ones of people; in others both are keen."""
    return texts_table(
        [
            {"domain": domain, "group": group, "item": f"{domain}{group}{i}", "source": source,
             "class": "dull" if source == "human" and place == 0 else "keen",
             "value": 0.0 if source == "human" and place == 0 else 1.0}
            for place, domain in enumerate(names)
            for group in ("ada", "bob")
            for i in range(30)
            for source in ("model", "human")
        ]
    )  # fmt: skip


def _beside_references() -> pa.Table:
    table = _two_sides(("craft",))
    written = [REFERENCE if source == "human" else None for source in table["source"].to_pylist()]
    return table.append_column("written", pa.array(written, pa.string()))


def _one_item_each() -> pa.Table:
    return texts_table(
        [
            {"domain": "craft", "group": f"g{i}", "item": f"i{i}", "source": source, "class": cls, "value": value}
            for i in range(12)
            for source, cls, value in (("model", "keen" if i < 2 else "dull", float(i)), ("human", "dull", 0.0))
        ]
    )


def _undefined(*keen: str) -> pa.Table:
    """Texts without a value, and a keen text of some groups."""
    reasons = (("ada", "a tie"), ("ada", "refused"), ("bob", "a tie"))
    rows: list[dict[str, object]] = [{"group": group, "why": why} for group, why in reasons]
    return texts_table([*rows, *({"group": group, "value": 1.0, "class": "keen"} for group in keen)])


def _with_examples() -> pa.Table:
    """Texts of which some repeat and some are far from the others, with words that carry their value."""
    texts = [("far", 9.0), ("near", 1.0), ("near", 1.0), ("next", 1.1), ("least", 0.1), ("glory swoop swoop", 1.0)]
    rows: list[dict[str, object]] = [{"group": "ada", "value": v, "class": "keen", "text": text} for text, v in texts]
    return texts_table([*rows, {"group": "ada", "value": 1.0, "class": "keen", "text": "human", "source": "human"}])


class _Two(Zeal):
    methods = (METHOD, TextMethod("other", "Otherness", "score", ("keen",), key="method"))


class _Means(Zeal):
    methods = tuple(TextMethod(name, name.capitalize(), "norm", (), key="norm") for name in ("joy", "fear"))


def _by_two_methods() -> pa.Table:
    table = domains(0.3)
    for part in ("", ".class", ".why"):
        table = table.append_column(f"{ZEAL}.other{part}", table[f"{ZEAL}.score{part}"])
    return table


def _whole(**world: float) -> pa.Table:
    return World(**world).draw(np.random.default_rng(0))  # type: ignore[arg-type] # whole numbers are numbers


def _zeal(answers: pa.Table, measure: Measure | None = None) -> Iterator[Section]:
    return _shown((measure or Zeal(),), answers, MeasureSettings())


def _judgements() -> Iterable[Section]:
    """Of four annotators one is careless; the others choose B for the first question, and mostly for the second."""
    key = study(20, StudySettings(pairs=20, sheets=4, per_pair=4))
    wins = dict(zip(QUESTIONS, (20, 15, 11), strict=True))
    answers = answers_of(key, lambda _rng, _who, pair, name: pair < wins[name], sloppy=[4])
    (chapter,) = study_report(analyse(answers, key, AnalysisSettings()), key).chapters
    return chapter.sections


def _perplexities(groups: Mapping[str, Sequence[float]], dimension: str = "one") -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"dimension": dimension, "group": group, "sentence": f"s{i}", "perplexity": value}
            for group, values in groups.items()
            for i, value in enumerate(values)
        ]
    )


NEAR = [50.0 + 0.01 * i for i in range(20)]
DOUBLE = {"blicket": (1.0, 2.0, 4.0), "stad": (2.0, 4.0, 8.0)}
EXPLODED = {"blicket": NEAR, "stad": [*NEAR[:7], 1e12, *NEAR[8:]], "mell": NEAR}


def _two_dimensions() -> pa.Table:
    return pa.concat_tables([_perplexities(EXPLODED), _perplexities(EXPLODED, "two")])


ANSWERS = make_answers(missing=[("blind", HATE)])
FAR = {"axes": {"age": [f"term {i}" for i in range(13)]}, "effect": 1, "planted": {("term 12", LOVE): 40}}
GROUPS, PERPLEXITY, BIAS = Zeal(), ("group_perplexity",), MEASURES["likelihood_bias"]

SHOWN: Mapping[str, Callable[[], Iterable[Section]]] = {
    "share-findings": _findings,
    "likelihoods": lambda: _of(SHARES, ANSWERS),
    "likelihoods-without-floors": lambda: _of(SHARES, make_answers(), None),
    "likelihoods-alike": lambda: _of(SHARES, make_answers(effect=0, planted={})),
    "likelihoods-of-two-nouns": lambda: _of(SHARES, make_answers(nouns=("woman", "man"))),
    "likelihoods-of-one-template": lambda: _of(SHARES, make_answers(templates=TEMPLATES[2:])),
    "likelihoods-with-an-outlier": lambda: _of(SHARES, make_answers(**FAR)),  # type: ignore[arg-type]
    "likelihoods-of-two-models": lambda: _compared(BIAS, ANSWERS, _other_model(ANSWERS)),
    "likelihoods-of-two-releases": lambda: _compared(
        BIAS, ANSWERS, without(without(ANSWERS, "descriptor", "blind"), "descriptor", "with a stutter")
    ),
    "likelihoods-without-an-interval": lambda: _compared(
        BIAS, only(ANSWERS, "template", LOVE), only(_other_model(ANSWERS), "template", LOVE)
    ),
    "stances": lambda: _of(STANCE, _planted_stance()),
    "stances-of-no-agreement": lambda: _of(STANCE, _drawn(2, axes=3)),
    "stances-of-many-axes": lambda: _of(STANCE, _drawn(9, stance=2.0, axes=6, descriptors=20, nouns=8)),
    "stances-of-made-up-words": lambda: _of(
        STANCE,
        _renamed(_drawn(3, stance=2.0, axes=2, descriptors=20, nouns=8), {"axis1": "nonce"}),
    ),
    "stances-of-one-pair-that-decides": lambda: _of(STANCE, _one_pair_decides()),
    "stances-without-floors": lambda: _of(STANCE, _drawn(5, stance=2.0, axes=2), None),
    "stances-of-one-pair": lambda: _of(STANCE, _drawn(6, axes=2, pairs=1)),
    "stances-of-two-models": lambda: _compared(
        MEASURES["stance_contrast"], _planted_stance(), _drawn(7, axes=4, descriptors=12, nouns=6)
    ),
    "responses": lambda: _of(WORDED, judged(made_responses(NAMES, 20, pity)), STYLES),
    "responses-alike": lambda: _of(WORDED, judged(made_responses(ALIKE, 15, seed=3)), STYLES),
    "responses-of-clusters-that-overlap": lambda: _of(
        ("generation_bias",), judged(made_responses(NAMES, 10, pity)), OVERLAPPING
    ),
    "responses-beside-a-corpus": _corpus,
    "responses-of-two-models": lambda: _compared(
        MEASURES["response_wording"], judged(made_responses(NAMES, 20, pity)), judged(made_responses(NAMES, 20, seed=5))
    ),
    "groups": lambda: _zeal(domains(0.3)),
    "groups-alike": lambda: _zeal(domains(0.0)),
    "groups-of-three-domains": lambda: _zeal(domains(0.3, heel=0.6)),
    "groups-of-one-domain": lambda: _zeal(_whole(items=100, lift=0.3)),
    "groups-alike-of-one-domain": lambda: _zeal(_whole(items=100)),
    "groups-beside-people": lambda: _zeal(domains(0.4, human=1)),
    "groups-far-from-people": lambda: _zeal(_two_sides(("craft", "trade"))),
    "groups-beside-references": lambda: _zeal(_beside_references()),
    "groups-of-one-item": lambda: _zeal(_one_item_each()),
    "groups-in-large-numbers": lambda: _zeal(_whole(groups=250, items=5)),
    "groups-without-a-value": lambda: _zeal(_undefined()),
    "groups-with-few-values": lambda: _zeal(_undefined("ada", "bob")),
    "groups-with-examples": lambda: _zeal(_with_examples()),
    "groups-by-two-methods": lambda: _zeal(_by_two_methods(), _Two()),
    "groups-by-means": lambda: _zeal(
        pa.table({"group": ["ada", "bob"], f"{ZEAL}.joy": [0.25, 0.5], f"{ZEAL}.fear": [0.0, None]}), _Means()
    ),
    "groups-of-two-models": lambda: _compared(GROUPS, domains(0.0), domains(0.4), MeasureSettings()),
    "judgements": _judgements,
    "perplexities": lambda: _of(PERPLEXITY, _perplexities(EXPLODED)),
    "perplexities-of-one-ratio": lambda: _of(PERPLEXITY, _perplexities(DOUBLE), None),
    "perplexities-of-two-models": lambda: _compared(
        MEASURES["group_perplexity"], _perplexities(EXPLODED), _two_dimensions()
    ),
}
"""The sections of each case."""
