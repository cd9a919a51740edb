"""Recipes: named configurations of evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holisticbias.source.document import read_document
from holisticbias.terms.versions import Version
from holisticbias_eval.errors import RecipeError
from holisticbias_eval.measures import MEASURES

_PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (_PACKAGE / "data" / "recipes", _PACKAGE.parent / "recipes")


class Recipe(BaseModel):
    """A file of ``evaluation/recipes/``: what ``holisticbias evaluate`` takes as defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1, description="a Hugging Face Hub repository, or a folder")
    kind: Literal["causal", "masked", "seq2seq"]
    release: Version
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


def recipes() -> Mapping[str, Path]:
    """Find the recipes that come with the package: their files by name."""
    return {path.stem: path for folder in FOLDERS for path in sorted(folder.glob("*.yaml"))}


def read_recipe(name: str) -> Recipe:
    """Read the recipe of this name, or in this file; ``RecipeError`` if it is missing or invalid."""
    known = recipes()
    path = known.get(name, Path(name))
    if not path.is_file():
        raise RecipeError(f"there is no recipe {name!r}, as a name or a file; available: {', '.join(known)}")
    document = read_document(path, str(path))
    if document.findings:
        found = document.findings[0]
        raise RecipeError(f"{path}:{found.line}: {found.message}")
    try:
        recipe = Recipe.model_validate(document.data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RecipeError(f"{path}: {where + ': ' if where else ''}{first['msg']}") from error
    unknown = [measure for measure in recipe.measures if measure not in MEASURES]
    if unknown:
        raise RecipeError(f"{path}: measure: there is no measure {unknown[0]!r}; available: {', '.join(MEASURES)}")
    return recipe
