"""Settings of parts: each part declares what it uses, and one rule refuses a setting that nothing chosen uses."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.errors import EvaluationError

Values = Mapping[str, Any]
"""The settings that a user gave, by name."""
_NAMED = 6
"""A message about a setting names at most this many measures."""


def _one_or_several(value: Any) -> Any:
    return (value,) if isinstance(value, str) or not isinstance(value, Iterable) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_one_or_several, json_schema_input_type=list[str] | str)]
"""One text or several: a setting that may be given several times."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the values of other settings, and its words, such as "with --engine api"."""

    words: str
    holds: Callable[[Values], bool]


def is_one_of(name: str, *wanted: object, default: object = None) -> Callable[[Values], bool]:
    """A condition that a setting, or its default, has one of some values."""
    return lambda values: values.get(name, default) in wanted


class Settings(BaseModel):
    """Settings of one part: a task, an engine, a reader or a measure. A new option is one field here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    group: ClassVar[str] = ""
    """The heading of the settings in a list of all options."""

    conditions: ClassVar[Mapping[str, tuple[Condition, ...]]] = {}
    """The conditions under which settings have an effect, by their names."""

    empties: ClassVar[frozenset[str]] = frozenset()
    """The settings of which an empty text is a value."""

    @classmethod
    def uses(cls, *conditions: Condition, fields: Sequence[str] = ()) -> tuple["Use", ...]:
        """The use of each setting, or of some, under these conditions and its own."""
        names = fields or cls.model_fields
        return tuple(Use(cls, (*conditions, *cls.conditions.get(name, ())), (name,)) for name in names)


S = TypeVar("S", bound=Settings)


def setting(default: Any, description: str, *, flags: Sequence[str] = (), metavar: str = "", **limits: Any) -> Any:
    """A field of ``Settings``; ``flags`` are its names on the command line if they are not that of the field."""
    extra: dict[str, Any] = {**({"flags": list(flags)} if flags else {}), **({"metavar": metavar} if metavar else {})}
    return Field(default, description=description, json_schema_extra=extra or None, **limits)


class ReleaseName(Settings):
    """The release."""

    release: str | None = setting(
        None,
        "A folder, a version, or ID@VERSION of a Hugging Face Hub dataset. A version alone is compiled from the terms. "
        "Default: the newest published version; 1.0.0 for the embedded model and the embedded responder, which were "
        "trained on its words.",
        metavar="FOLDER|VERSION",
    )


class Small(Settings):
    """The small part of a release."""

    group = "What is asked"

    small: bool = setting(
        False, "Only 100 descriptors of all axes, those of subsets/small.yaml. It is a tenth of the work."
    )


def _filters(where: Any) -> tuple[str, ...]:
    from holisticbias.compile.filters import filter_texts

    return filter_texts(where)


Filters = Annotated[
    tuple[str, ...], BeforeValidator(_filters, json_schema_input_type=dict[str, str | list[str]] | list[str] | str)
]
"""Filters as one text, as several, or as the values of each key."""


class Chosen(Settings):
    """The choice of sentences or prompts."""

    group = "What is asked"

    where: Filters = setting(
        (),
        "Only these sentences or prompts, such as axis=age,ability. KEY is axis, bucket, preference, descriptor, "
        "gender, noun, template or first_turn_only; for prompts to continue, domain or group.",
        metavar="KEY=VALUE,...",
    )
    limit: int | None = setting(
        None,
        "At most this many sentences or prompts. They are spread over axes, descriptors and templates that the seed "
        "draws; of prompts to continue there are as many of each group.",
        metavar="N",
        ge=1,
    )


class Seed(Settings):
    """The seed of what is drawn."""

    group = "What is asked"

    seed: int = setting(
        0,
        "Seed of all that is drawn. For scores these are the limit and the variants, else the prompts and the "
        "responses; a response depends on the seed and its prompt alone.",
        ge=0,
    )


class Variants(Settings):
    """Stylistic variants of sentences."""

    group = "What is asked"

    variants: bool | None = setting(
        None,
        "Apply stylistic variants at random: lower case, no hyphens, 'I am', no final period. Default: yes for "
        "responses, no for scores.",
    )


class Keeping(Settings):
    """The store that is kept between runs."""

    store: Path | None = setting(
        None,
        "Folder that keeps answers and labels between runs. Default: folders in $HOLISTICBIAS_CACHE or "
        "~/.cache/holisticbias.",
    )
    no_store: bool = setting(False, "Compute everything again. Nothing is kept but the run.")

    conditions: ClassVar[Mapping[str, tuple[Condition, ...]]] = {
        "store": (Condition("without --no-store", is_one_of("no_store", False, default=False)),)
    }


@dataclass(frozen=True, slots=True)
class Use:
    """Settings that a part uses if all conditions hold; ``fields`` are some of their names, by default all."""

    settings: type[Settings]
    conditions: tuple[Condition, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the settings."""
        return self.fields or tuple(self.settings.model_fields)

    def holds(self, values: Values) -> bool:
        """Whether the settings have an effect beside these values."""
        return all(condition.holds(values) for condition in self.conditions)


def split_names(values: Sequence[str]) -> tuple[str, ...]:
    """Names that are separated by commas or given one by one."""
    return tuple(name.strip() for names in values for name in names.split(",") if name.strip())


Uses = Mapping[str, Sequence[Use]]
"""What each measure or method uses, by its name."""


def read_settings(kind: type[S], values: Values, without: Collection[str] = ()) -> S:
    """The settings of a kind from the values of all, ``without`` some that have their default.

    Raises ``EvaluationError`` for a value that is not allowed.
    """
    try:
        return kind.model_validate({n: values[n] for n in kind.model_fields if n in values and n not in without})
    except ValidationError as error:
        first = error.errors()[0]
        where = flag_of(kind, str(first["loc"][0])) if first["loc"] else kind.group
        raise EvaluationError(f"{where}: {schema_message(first)}") from error


def refuse_unused(values: Values, uses: Uses, chosen: Sequence[str], release: object = None) -> None:
    """Raise ``EvaluationError`` for a setting, or a release, that none of the chosen measures or methods uses.

    The message says under which condition they use it, or else which others do. A data frame is refused first.
    """
    _refuse_unplain(values, uses)
    if release is not None:
        values = {**values, "release": release}
    for name in values:
        fitting = [(part, use) for part, found in uses.items() for use in found if name in use.names]
        near = [(part, use) for part, use in fitting if part in chosen]
        if not any(use.holds(values) for _, use in near):
            words = _words(near, values, chosen) if near else _words(fitting, values, [*uses])
            flag = flag_of(fitting[0][1].settings, name)
            raise EvaluationError(f"{flag} is for {words}: here it has no effect, so leave it out")


def _refuse_unplain(values: Values, uses: Uses) -> None:
    """Raise ``EvaluationError`` for an unknown setting, and for a value that is not a text, a number or a list.

    Likewise for the empty text that a shell gives for a variable that is not set.
    """
    kinds = {name: use.settings for found in uses.values() for use in found for name in use.names}
    for name, value in values.items():
        if name not in kinds:
            raise EvaluationError(f"there is no setting {name!r}{close_to(name, kinds)}; --help-all lists them")
        for one in value if isinstance(value, list | tuple) else (value,):
            if not isinstance(one, str | int | float | Path | date):
                wanted = "a text, a number, the name of a file, or a list of them"
                raise EvaluationError(f"{flag_of(kinds[name], name)}: it must be {wanted}, not {type(one).__name__}")
            if one == "" and name not in kinds[name].empties:
                raise EvaluationError(f"{flag_of(kinds[name], name)} is empty: give a value, or leave it out")


def of_measures(recipe: Values, measures: Sequence[str], uses: Uses) -> dict[str, Any]:
    """The settings of a recipe that these measures use, when they replace the measures of the recipe."""
    used = {name for measure in measures for use in uses.get(measure, ()) for name in use.names}
    return {name: value for name, value in recipe.items() if name in used}


def stated_default(fields: Sequence[FieldInfo]) -> Any:
    """The default to say beside the descriptions of a setting; None if there is none, they say it or differ."""
    default = fields[0].default
    if any("Default:" in (field.description or "") or field.default != default for field in fields):
        return None
    return None if default == () else default


def flags_of(kind: type[Settings], name: str) -> tuple[str, ...]:
    """The names of a setting on the command line, with the one that switches it off."""
    info = kind.model_fields.get(name)
    extra = info.json_schema_extra if info is not None and isinstance(info.json_schema_extra, dict) else {}
    plain = name.replace("_", "-")
    named = tuple(map(str, extra.get("flags") or ())) or (f"--{plain}",)  # type: ignore[arg-type] # see ``setting``
    is_switch = info is not None and bool in (info.annotation, *get_args(info.annotation))
    return (*named, f"--no-{plain}") if is_switch and not name.startswith("no_") else named


def flag_of(kind: type[Settings], name: str) -> str:
    """The names of a setting as they stand in messages."""
    flags = flags_of(kind, name)
    return "/".join((flags[0], flags[-1])) if flags[-1].startswith("--no-") and len(flags) > 1 else flags[0]


def _words(fitting: Sequence[tuple[str, Use]], values: Values, among: Sequence[str]) -> str:
    """The measures that use a setting, each with the conditions that do not hold; "runs" if they are all ``among``."""
    by_condition: dict[str, list[str]] = {}
    for part, use in fitting:
        unmet = (condition.words for condition in use.conditions if not condition.holds(values))
        by_condition.setdefault(" and ".join(unmet), []).append(part)
    said = []
    for condition, found in by_condition.items():
        parts = list(dict.fromkeys(found))
        if len(parts) > _NAMED:
            parts = [*parts[: _NAMED // 2], f"{len(parts) - _NAMED // 2} others"]
        said.append(f"{'runs' if {*found} == {*among} else listed(parts)} {condition}".strip())
    return ", and for ".join(said)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in words: "a, b and c"."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def close_to(name: str, known: Collection[str]) -> str:
    """The known names that are close to an unknown one, in words; empty if there are none."""
    close = get_close_matches(name, known)
    return f"; close to it: {', '.join(close)}" if close else ""
