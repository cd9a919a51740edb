"""Recipes: files of settings, which commands take as the defaults of their options."""

from collections.abc import Mapping
from typing import Annotated, Any, Union

from pydantic import BeforeValidator, create_model, model_validator
from pydantic.fields import FieldInfo

from holisticbias_eval.errors import EvaluationError, RecipeError
from holisticbias_eval.measures import find_measure
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.settings import Settings, Uses, setting, split_names

_ABOUT = {"source", "note"}


def _joined(names: object) -> object:
    """Join a list of names with commas, as the command line has them."""
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return ",".join(names)
    return names


_Measures = Annotated[str | None, BeforeValidator(_joined, json_schema_input_type=str | list[str] | None)]


class RecipeBase(Settings):
    """A recipe: the model, the measures, and any settings; each is the default of the option of that name."""

    model: str | None = setting(None, "a folder, or a Hugging Face Hub repository", min_length=1)
    measures: _Measures = setting(None, "measures, as a list or separated by commas; null for the default")
    source: str | None = setting(None, "where this was measured so", min_length=1)
    note: str | None = setting(None, "what else to know")

    @model_validator(mode="before")
    @classmethod
    def _named_as_before(cls, values: Any) -> Any:
        """Values with ``measures``, which recipes for 3.0.0 name ``measure``."""
        is_old = isinstance(values, dict) and "measure" in values and "measures" not in values
        return {"measures" if key == "measure" else key: value for key, value in values.items()} if is_old else values


def recipe_model(uses: Uses) -> type[RecipeBase]:
    """The form of recipes that may have any of the settings in ``uses``."""
    found: dict[str, list[FieldInfo]] = {}
    for use in (use for declared in uses.values() for use in declared):
        for name in use.names:
            found.setdefault(name, []).append(use.settings.model_fields[name])
    fields: dict[str, Any] = {
        name: (_annotation(infos), setting(None, str(infos[0].description))) for name, infos in found.items()
    }
    return create_model("Recipe", __base__=RecipeBase, __doc__=RecipeBase.__doc__, **fields)


def _annotation(infos: list[FieldInfo]) -> Any:
    """The type of a setting, with its bounds; of several settings with one name, all of their types."""
    kinds = {str(info): Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
             for info in infos}  # fmt: skip
    return Union[tuple(kinds.values())]  # noqa: UP007 - of a number of types that is not known


def recipe_files(uses: Uses) -> NamedFiles[RecipeBase]:
    """The recipes that come with the package, and those of users, for a command with these settings."""
    return NamedFiles("recipe", "recipes", recipe_model(uses), RecipeError, blanks=True)


def read_recipe(name: str, uses: Uses) -> Mapping[str, Any]:
    """The settings of the recipe of this name, or in this file, by name.

    Raises ``RecipeError`` if it is missing, or has a key that is not a setting in ``uses``, or a value that is not
    allowed.
    """
    files = recipe_files(uses)
    recipe = files.read(name)
    values = {key: value for key, value in recipe.model_dump(exclude=_ABOUT).items() if value is not None}
    measures = values.get("measures", "")
    for measure in split_names([measures] if isinstance(measures, str) else measures):
        try:
            find_measure(measure)
        except EvaluationError as error:
            raise RecipeError(f"{files.find(name)}: measures: {error}") from None
    return values
