"""The uses of the options of each command: measures or methods, engines and inputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from holisticbias_eval.commands.option_uses import ALWAYS, Need, Use, Uses, Values
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.pipeline.collection_prompts import SENTENCES
from holisticbias_eval.pipeline.preparing import source_of
from holisticbias_eval.readers.card import CARDS


def _is(name: str, *values: object) -> Callable[[Values], bool]:
    return lambda given: given[name] in values


def _reads(engine: str) -> Callable[[Values], bool]:
    """Whether a classifier that is named has this engine."""

    def holds(given: Values) -> bool:
        named = next((given[key] for key in ("classifier", "name") if given.get(key)), ())
        names = [named] if isinstance(named, str) else [name for joined in named for name in joined.split(",")]
        return any(CARDS.read(name.strip()).engine == engine for name in names if name.strip())

    return holds


def _is_bold(given: Values) -> bool:
    name = given["prompts"] or ""
    return "/" in name or Path(name).is_dir()


def _is_asked_of_release(given: Values) -> bool:
    return given["prompts"] in (None, SENTENCES)


ASKED = Need("without --responses", _is("responses", None))
SAID = Need("with --prompts sentences", _is("prompts", SENTENCES))
CONTINUED = Need("with prompts to continue", lambda given: given["prompts"] != SENTENCES)
LOADED = Need("with --engine local or ray", _is("engine", "local", "ray"))
API = Need("with --engine api", _is("engine", "api"))
RAY = Need("with --engine ray", _is("engine", "ray"))
LIKELIHOOD = Need("with --mode likelihood", _is("mode", "likelihood"))
CHAT_JUDGE = Need("with a --classifier that is a chat model", _reads("chat"))
KEPT = Need("without --no-store", _is("no_store", False))
SELECTED = Need("with --limit or --variants", lambda given: given["limit"] is not None or bool(given["variants"]))
CHAT_STYLE = Need(
    "without --chat off, --separator and --continuation",
    lambda given: given["chat"] != "off" and given["separator"] is None and given["continuation"] is None,
)
BOLD = Need("with --prompts of BOLD, a folder or a data set on the Hub", _is_bold)
ENGINES = ("api_base", "api_concurrency", "api_rate", "api_budget", "api_timeout", "api_wait", "api_largest")
RAYS = ("ray_address", "replicas")

_Source = Literal["scores", "intersections", "responses", "texts", "pairs", "test set", "retention"]


def _of(*sources: _Source) -> tuple[str, ...]:
    """The measures of these sources of texts."""
    return tuple(name for name in MEASURES if source_of([name]) in sources)


def _answers(*kinds: str) -> tuple[str, ...]:
    return tuple(name for name, measure in MEASURES.items() if measure.needs.answers in kinds)


def _judged_texts() -> tuple[str, ...]:
    return tuple(name for name, found in MEASURES.items() if isinstance(found, GroupMeasure) and found.reader.card)


def evaluate_uses() -> Uses:
    """The uses of the options of ``evaluate``."""
    sentences, pairs, answered, texts = _of("scores"), _of("pairs"), _of("responses"), _of("texts")
    scored = (*_of("scores", "intersections", "test set"), "retention")
    responses = (*answered, *texts)
    judged = _answers("labels", "offensiveness")
    classified = (*judged, *_judged_texts())
    asked = Use(responses, (ASKED,))
    everything = dict.fromkeys(("recipe", "model", "measure", "out", "overwrite", "dry_run"), ALWAYS)
    return {
        **everything,
        "release": (Use((*_of("scores", "intersections"), *answered)), Use(texts, (ASKED,))),
        "pll": (Use(scored, (LOADED,)), Use(pairs, (LIKELIHOOD, LOADED))),
        **dict.fromkeys(
            ("context", "context_file", "context_seed"), (Use(_of("scores", "intersections", "test set")),)
        ),
        "first_token": (Use(scored), Use(pairs, (LIKELIHOOD,))),
        "chat": (Use(scored, (LOADED,)), Use(pairs, (LIKELIHOOD, LOADED)), asked),
        "pairs": (Use(pairs),),
        "mode": (Use(pairs),),
        "test_set": (Use(_of("test set")),),
        "retain": (Use(("retention", "dialogue_state")),),
        "retain_command": (Use(("retained",)),),
        "kind": (Use((*scored, *pairs, "dialogue_state"), (LOADED,)), Use(responses, (ASKED, LOADED))),
        "dtype": (Use((*scored, *pairs), (LOADED,)), Use(responses, (ASKED, LOADED))),
        "device": (
            Use((*scored, *pairs, "dialogue_state"), (LOADED,)),
            Use(responses, (ASKED, LOADED)),
            Use(classified),
        ),
        "engine": (Use((*scored, *pairs, "dialogue_state")), asked),
        **dict.fromkeys(ENGINES, (Use((*scored, *pairs), (API,)), Use(responses, (ASKED, API)))),
        **dict.fromkeys(RAYS, (Use((*scored, *pairs), (RAY,)), Use(responses, (ASKED, RAY)))),
        "per_cell": (asked,),
        **dict.fromkeys(("where", "limit"), (Use(sentences), asked)),
        "seed": (Use(sentences, (SELECTED,)), asked),
        "variants": (Use(sentences), Use(answered, (ASKED,)), Use(texts, (ASKED, SAID))),
        "personas": (Use(answered, (ASKED,)), Use(texts, (ASKED, SAID))),
        **dict.fromkeys(("decoding", "system", "separator", "continuation", "control"), (asked,)),
        "api_endpoint": (Use(responses, (ASKED, API)),),
        "batch": (Use(responses, (ASKED, LOADED)),),
        "prompts": (Use(texts, (ASKED,)),),
        "human": (Use(texts, (ASKED,)),),
        "part": (Use(texts),),
        "faulty_prompts": (Use(texts, (ASKED, BOLD)),),
        "style": (Use(texts, (ASKED, CONTINUED, CHAT_STYLE)),),
        "norms": (Use(("norms",)),),
        "polarity": (Use(("gender_polarity",)),),
        "ties": (Use(("gender_polarity",)),),
        **dict.fromkeys(("positive", "negative"), (Use(("sentiment",)),)),
        "responses": (Use(responses),),
        "classifier": (Use(classified),),
        "censor": (Use(judged), Use(texts, (ASKED, SAID))),
        "clusters": (Use(("generation_bias",)),),
        "corpus": (Use(("generation_bias",)),),
        "phrases": (Use(("response_wording",)),),
        "classifier_api_base": (Use(classified, (CHAT_JUDGE,)),),
        "store": (Use((*scored, *pairs), (KEPT,)), Use(responses, (ASKED, KEPT)), Use(classified, (KEPT,))),
        "no_store": (Use((*scored, *pairs)), asked, Use(classified)),
    }


SCORES = Need("with --scores", lambda given: given["scores"] is not None)
TEXTS = Need("with --texts", lambda given: given["texts"] is not None)
TRUST = Need("without --no-trust", _is("trust", True))


def measure_uses() -> Uses:
    """The uses of the options of ``measure``."""
    tables = tuple(name for name in MEASURES if name not in _of("texts"))
    resampled = tuple(name for name in tables if MEASURES[name].resamples)
    classified = (Use(_judged_texts(), (TEXTS,)),)
    return {
        **dict.fromkeys(("measure", "scores", "texts", "out", "style"), ALWAYS),
        "trust": (Use(resampled, (SCORES,)),),
        "clusters": (Use(("generation_bias",)),),
        "phrases": (Use(("response_wording",)),),
        "threshold": (Use(("offensiveness", "prompt_offensiveness", "toxicity")),),
        "norms": (Use(("norms",)),),
        "polarity": (Use(("gender_polarity",)),),
        "ties": (Use(("gender_polarity",)),),
        **dict.fromkeys(("positive", "negative"), (Use(("sentiment",)),)),
        **dict.fromkeys(("classifier", "no_store"), classified),
        "device": (Use(_judged_texts(), (TEXTS,)),),
        "store": (Use(_judged_texts(), (TEXTS, KEPT)),),
        "api_base": (Use(_judged_texts(), (TEXTS, CHAT_JUDGE)),),
        "corpus": (Use(_answers("likelihoods", "labels"), (SCORES,)),),
        "seed": (Use(resampled, (TRUST,)), Use(_of("texts"))),
    }


def generate_uses() -> Uses:
    """The uses of the options of ``generate``."""
    said = Need("about a release's sentences", _is_asked_of_release)
    always = (
        "model",
        "release",
        "prompts",
        "out",
        "overwrite",
        "no_store",
        "engine",
        "per_cell",
        "where",
        "limit",
        "seed",
    )
    answering = ("decoding", "system", "separator", "continuation", "control", "chat")
    return {
        **dict.fromkeys((*always, *answering), ALWAYS),
        **dict.fromkeys(("variants", "personas"), (Use(None, (said,)),)),
        **dict.fromkeys(("kind", "dtype", "device", "batch"), (Use(None, (LOADED,)),)),
        **dict.fromkeys((*ENGINES, "api_endpoint"), (Use(None, (API,)),)),
        **dict.fromkeys(RAYS, (Use(None, (RAY,)),)),
        "store": (Use(None, (KEPT,)),),
    }


TRAINING = ("steps", "batch", "accumulation", "learning_rate", "warmup", "optimizer", "lm_weight", "patience",
            "criterion", "evaluations", "seed", "lora_rank", "device", "grid")  # fmt: skip


def mitigate_uses() -> Uses:
    """The uses of the options of ``mitigate``, by method."""
    corpus, styled = (
        tuple(n for n, m in METHODS.items() if m.info.needs == needs) for needs in ("corpus", "responses")
    )
    added = tuple(n for n, m in METHODS.items() if type(m).auxiliary_loss is not Method.auxiliary_loss)
    measured = Need("without --no-measure", _is("no_measure", False))
    asking = Need(
        "without --responses and --no-measure together",
        lambda given: given["responses"] is None or not given["no_measure"],
    )
    further = Need("with --measure", lambda given: bool(given["measure"]))
    scored = Need("with --measure or --retain", lambda given: bool(given["measure"] or given["retain"]))
    asked = ("per_cell", "where", "decoding", "system", "separator", "continuation", "classifiers")
    always = ("methods", "model", "out", "overwrite", "no_measure", "measure", "retain", "retain_command")
    return {
        **dict.fromkeys((*always, *TRAINING), ALWAYS),
        **dict.fromkeys(("specification", "corpus", "hold_out", "groups"), (Use(corpus),)),
        "first_token": (Use(corpus), Use(None, (scored, measured))),
        **dict.fromkeys(("responses", "alpha", "threshold", "quantile"), (Use(styled),)),
        **dict.fromkeys(asked, (Use(styled, (asking,)),)),
        "epochs": (Use(None, (Need("without --steps", _is("steps", None)),)),),
        "weight": (Use(added),),
        "max_perplexity_rise": (Use(None, (Need("with --grid", lambda given: given["grid"] is not None),)),),
        "release": (Use(styled, (asking,)), Use(None, (further, measured))),
    }


def classify_uses() -> Uses:
    """The uses of the options of ``classify``."""
    return {
        **dict.fromkeys(("responses", "name", "out", "censor", "no_store"), ALWAYS),
        "device": (Use(None, (Need("with a --classifier of transformers", _reads("transformers")),)),),
        "api_base": (Use(None, (CHAT_JUDGE,)),),
        "store": (Use(None, (KEPT,)),),
    }
