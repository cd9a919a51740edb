"""Recipes: named configurations of evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from holisticbias.terms.versions import Number
from holisticbias_eval.errors import RecipeError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.named_files import NamedFiles


class Recipe(BaseModel):
    """A file of ``evaluation/recipes/``: what ``holisticbias evaluate`` takes as defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1, description="a Hugging Face Hub repository, or a folder")
    kind: Literal["causal", "masked", "seq2seq"]
    release: Number
    measure: str | None = Field(None, min_length=1, description="measures, separated by commas; null for the default")
    pll: Literal["original", "within_word_l2r"] | None = Field(None, description="for masked models")
    source: str = Field(min_length=1, description="where this model was measured so")
    note: str | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of the recipe; empty for the default."""
        return tuple(name.strip() for name in self.measure.split(",")) if self.measure else ()

    @property
    def defaults(self) -> Mapping[str, str]:
        """The options of ``evaluate`` that it sets; options on the command line take precedence."""
        about = {"source", "note"}
        return {name: value for name, value in self.model_dump(exclude=about).items() if value is not None}


FILES = NamedFiles("recipe", "recipes", Recipe, RecipeError)


def read_recipe(name: str) -> Recipe:
    """Read the recipe of this name, or in this file; ``RecipeError`` if it is missing or invalid."""
    recipe = FILES.read(name)
    unknown = [measure for measure in recipe.measures if measure not in MEASURES]
    if unknown:
        raise RecipeError(
            f"{FILES.find(name)}: measure: there is no measure {unknown[0]!r}; available: {', '.join(MEASURES)}"
        )
    return recipe
