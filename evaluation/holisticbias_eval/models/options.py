"""The settings of a model that commands and tasks use, with the engines that they are for."""

from __future__ import annotations

from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.settings import Condition, Keeping, Use, is_one_of

LOADED = Condition("with --engine local or ray", is_one_of("engine", "local", "ray", default="local"))
API = Condition("with --engine api", is_one_of("engine", "api"))
RAY = Condition("with --engine ray", is_one_of("engine", "ray"))
KEPT = Condition("without --no-store", is_one_of("no_store", False, default=False))
WEIGHTS = ("kind", "dtype", "device")
_SERVER = tuple(name for name in ModelSettings.model_fields if name.startswith("api_") and name != "api_endpoint")
KEEPING = (Use(Keeping, fields=("no_store",)), Use(Keeping, (KEPT,), ("store",)))
"""The settings of what is kept."""


def of_model(*fields: str, conditions: tuple[Condition, ...] = ()) -> Use:
    """Some settings of the model, under conditions."""
    return Use(ModelSettings, conditions, fields)


def engine_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of the engines, each with its condition."""
    return (
        of_model("engine", conditions=conditions),
        of_model(*WEIGHTS, conditions=(*conditions, LOADED)),
        of_model(*_SERVER, conditions=(*conditions, API)),
        of_model("ray_address", "replicas", conditions=(*conditions, RAY)),
        *(Use(use.settings, (*conditions, *use.conditions), use.fields) for use in KEEPING),
    )


def scoring_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of a model that scores."""
    return (
        *engine_uses(),
        of_model("first_token", conditions=conditions),
        of_model("chat", "pll", conditions=(*conditions, LOADED)),
    )


def responding_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of a model that responds."""
    return (
        *engine_uses(*conditions),
        of_model("api_endpoint", conditions=(*conditions, API)),
        of_model("batch", conditions=(*conditions, LOADED)),
    )
