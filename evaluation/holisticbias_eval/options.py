"""Options of commands, made from the settings that the code takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, cast, get_args, get_origin

import click
from click.core import ParameterSource

from holisticbias.terminal import write

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from holisticbias_eval.settings import S, Settings, Uses

_TYPED = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
_OTHERS, _GROUP, _ALL = "Options", "holisticbias_group", "holisticbias_all"
_LEADING = ("set", "help_all")
"""The options that lead to all others."""


class SettingsCommand(click.Command):
    """A command with an option for each of its settings, whose help shows groups under titles, its own options first.

    ``shown`` names the kinds of settings in the first screen of help: ``KIND`` of ``settings``, or ``PART:KIND`` of the
    command's own part, which stand in their groups. That screen has the first sentence of each option and its default.
    The others are made when they are needed, from ``uses``, the ``PART:NAME`` of what declares them, and ``--help-all``
    shows all in groups, with everything about them. ``--set NAME=VALUE`` is another way to write an option.
    """

    def __init__(self, *args: Any, shown: Sequence[str] = (), uses: str = "", **more: Any) -> None:
        more["context_settings"] = {"help_option_names": ["-h", "--help"], **(more.get("context_settings") or {})}
        super().__init__(*args, **more)
        self.settings: set[str] = set()
        self._shown, self._uses = tuple(shown), uses
        if uses:
            self.params += [
                click.Option(
                    ["--set"], multiple=True, metavar="NAME=VALUE", expose_value=False,
                    help="Any other setting of --help-all.",
                ),
                click.Option(
                    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
                    help="Show all settings, with their details.",
                ),
            ]  # fmt: skip

    def uses(self) -> Uses:
        """The settings that each measure or method uses, from the parts that declare them."""
        declared: Uses | Callable[[], Uses] = _named(self._uses) if self._uses else {}
        return declared() if callable(declared) else declared

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, with ``--set`` written out."""
        if not {"-h", "--help"} & {*args}:
            self.load_all()
        return super().parse_args(ctx, list(_written_out(self.params, args)))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, with the settings of the first screen of help."""
        self._load_shown()
        return super().get_params(ctx)

    def _load_shown(self) -> None:
        """Add the settings of the first screen before the options that lead to all others."""
        shown, self._shown = self._shown, ()
        if shown:
            last = [param for param in self.params if param.name in _LEADING]
            self.params = [param for param in self.params if param not in last]
            for name in shown:
                is_own = ":" in name
                kind: type[Settings] = _named(name)
                self._add([(kind, tuple(kind.model_fields))], hidden=False, grouped=is_own)
            self.params += last

    def load_all(self) -> None:
        """Add an option for every setting."""
        self._load_shown()
        self._add(
            [(use.settings, use.names) for found in self.uses().values() for use in found], hidden=True, grouped=True
        )

    def _add(self, used: Iterable[tuple[type[Settings], Sequence[str]]], *, hidden: bool, grouped: bool) -> None:
        fields: dict[str, dict[type[Settings], FieldInfo]] = {}
        for kind, names in used:
            for name in names:
                if name not in self.settings:
                    fields.setdefault(name, {})[kind] = kind.model_fields[name]
        own = {param.name for param in self.params}
        for name, found in fields.items():
            if name not in own:
                option = _option(name, list(found.items()), hidden=hidden)
                kind = next(iter(found))
                if grouped and kind.group:
                    setattr(option, _GROUP, kind.group)
                self.params.append(option)
        self.settings |= set(fields)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help."""
        is_short = bool(self._uses) and not ctx.meta.get(_ALL)
        groups: dict[str, list[tuple[str, str]]] = {_OTHERS: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                flags, says = record
                shown = (flags, _in_short(says) if is_short else says)
                groups.setdefault(getattr(param, _GROUP, _OTHERS), []).append(shown)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def values(self, ctx: click.Context, *sources: ParameterSource) -> dict[str, Any]:
        """The settings that the user gave, by name: on the command line, or in a recipe."""
        wanted = sources or (*_TYPED, ParameterSource.DEFAULT_MAP)
        return {name: ctx.params[name] for name in self.settings if ctx.get_parameter_source(name) in wanted}


def settings_command(
    short_help: str, shown: str = "", *, uses: str = "", **more: Any
) -> Callable[[Callable[..., Any]], SettingsCommand]:
    """A decorator that makes a ``SettingsCommand`` of a function; the names in ``shown`` have spaces between them."""
    return click.command(cls=SettingsCommand, short_help=short_help, shown=shown.split(), uses=uses, **more)


def _named(place: str) -> Any:
    """The object of this name in a part; imported here, because the list of commands must not import pydantic."""
    module, _, name = place.rpartition(":")
    return getattr(import_module(f"holisticbias_eval.{module or 'settings'}"), name)


def given_settings(context: click.Context | None = None) -> dict[str, Any]:
    """The settings that the user gave to a command, by default to the one that runs.

    A recipe is for its own measures: if others are named on the command line, what only its own use is left out.
    In a command whose further measures are a setting, all of a recipe counts.
    """
    ctx = context or click.get_current_context()
    command = cast("SettingsCommand", ctx.command)
    if "measures" in command.settings or ctx.get_parameter_source("measures") not in _TYPED:
        return command.values(ctx)
    from holisticbias_eval.settings import of_measures, split_names

    recipe, chosen = command.values(ctx, ParameterSource.DEFAULT_MAP), split_names([str(ctx.params["measures"])])
    return of_measures(recipe, chosen, command.uses()) | command.values(ctx, *_TYPED)


def read_own(kind: type[S]) -> S:
    """The settings of one kind that the user gave to the command that runs.

    Raises ``EvaluationError`` for a value that is not allowed, and for a setting that has no effect beside the others.
    """
    from holisticbias_eval.settings import read_settings, refuse_unused

    values, command = given_settings(), str(click.get_current_context().command.name)
    own = {name: value for name, value in values.items() if name in kind.model_fields}
    refuse_unused(own, {command: kind.uses()}, [command])
    return read_settings(kind, own)


def _show_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or not isinstance(ctx.command, SettingsCommand):
        return
    hidden = [param for param in ctx.command.params if isinstance(param, click.Option) and param.hidden]
    for param in hidden:
        param.hidden = False
    ctx.meta[_ALL] = True
    try:
        write(ctx.get_help())
    finally:
        for param in hidden:  # the command may run again in this process
            param.hidden = True
    ctx.exit()


def _in_short(says: str) -> str:
    """The first sentence of a help text, with the default and whether the option is required."""
    first, *more = re.findall(r".+?(?:\. +|$)", says) or [""]
    return "".join([first, *(one for one in more if one.startswith(("Default:", "[default", "[required")))]).rstrip()


def _written_out(params: Sequence[click.Parameter], args: Sequence[str]) -> Iterable[str]:
    """Arguments in which ``--set NAME=VALUE`` is the option of that name, and ``--measure`` is ``--measures``."""
    known = {str(param.name): param for param in params if isinstance(param, _SettingOption)}
    rest = iter(args)
    for arg in rest:
        if arg != "--set" and not arg.startswith("--set="):
            yield arg if arg.partition("=")[0] != "--measure" else arg.replace("--measure", "--measures", 1)
            continue
        name, equals, value = (next(rest, "") if arg == "--set" else arg.removeprefix("--set=")).partition("=")
        option = known.get(name.strip().replace("-", "_"))
        if not equals:
            raise click.UsageError(f"--set {name}: write NAME=VALUE")
        if option is None:
            from holisticbias_eval.settings import close_to

            raise click.UsageError(f"--set: there is no setting {name!r}{close_to(name, known)}; --help-all lists them")
        if option.is_flag:
            yield from option.opts[:1] if click.BOOL.convert(value, option, None) else option.secondary_opts[:1]
        else:
            yield f"{option.opts[0]}={value}"


class _SettingOption(click.Option):
    """The option of a setting."""


class _SettingPath(click.Path):
    """The path of a file or a folder; an empty text, of which Python makes the current folder, stays empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value and super().convert(value, param, ctx)


def _option(name: str, fields: Sequence[tuple[type[Settings], FieldInfo]], *, hidden: bool) -> click.Option:
    from holisticbias_eval.settings import flags_of, stated_default

    kind, info = fields[0]
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    annotation, several = _kind(info.annotation)
    flags = flags_of(kind, name)
    says = " ".join(dict.fromkeys(str(one.description) for _, one in fields))
    default = stated_default([one for _, one in fields])
    if default is not None and not isinstance(default, bool):
        says = f"{says.removesuffix('.')}. Default: {default}."
    shared: dict[str, Any] = {"help": says, "hidden": hidden, "default": () if several else None}
    if annotation is bool:
        return _SettingOption(["/".join(flags), name], is_flag=True, **shared)
    metavar = str(extra.get("metavar") or "") or None
    return _SettingOption([*flags, name], type=_type(fields), multiple=several, metavar=metavar, **shared)


def _kind(annotation: Any) -> tuple[Any, bool]:
    """The type of a setting without null, and whether it may be given several times."""
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(one for one in get_args(annotation) if one is not NoneType)
    return (get_args(annotation)[0], True) if get_origin(annotation) is tuple else (annotation, False)


def _type(fields: Sequence[tuple[type[Settings], FieldInfo]]) -> Any:
    from annotated_types import Ge, Gt, Le, Lt

    kinds = [_kind(info.annotation)[0] for _, info in fields]
    if all(get_origin(kind) is Literal for kind in kinds):
        return click.Choice(list(dict.fromkeys(str(value) for kind in kinds for value in get_args(kind))))
    kind, info = kinds[0], fields[0][1]
    low = next((limit for limit in info.metadata if isinstance(limit, Ge | Gt)), None)
    high = next((limit for limit in info.metadata if isinstance(limit, Le | Lt)), None)
    if kind in (int, float) and (low or high):
        ends: Mapping[str, Any] = {
            "min": getattr(low, "ge", getattr(low, "gt", None)),
            "max": getattr(high, "le", getattr(high, "lt", None)),
        }
        make = click.IntRange if kind is int else click.FloatRange
        return make(**ends, min_open=isinstance(low, Gt), max_open=isinstance(high, Lt))
    if kind is date:
        return click.DateTime(["%Y-%m-%d"])
    return _SettingPath(path_type=Path) if kind is Path else kind
