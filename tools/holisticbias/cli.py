"""The command line: run a command, print an error as one line, and return the exit code."""

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TextIO

import click

from holisticbias.errors import HolisticBiasError, WithdrawnVersionWarning, system_message
from holisticbias.terminal import write

SECTIONS = {
    "Terms": (
        "show",
        "add",
        "from-issue",
        "answer",
        "assess",
        "pseudonym",
        "move",
        "reword",
        "retire",
        "validate",
        "fmt",
        "diff",
        "preview",
    ),
    "Releases": ("releases", "build", "verify", "export", "publish"),
    "Generated files": ("schema", "sync"),
}
BUILT_IN = frozenset(verb for verbs in SECTIONS.values() for verb in verbs)
GROUP = "holisticbias.commands"
INTERRUPTED = 130
CALLED = {"acute-eval": "judge"}
"""Commands by another name that people know them by."""
CLOSED = 141
"""The code of a program that SIGPIPE ends: the reader of its output, such as ``head``, is gone."""


class _Verbs(click.Group):
    """Load commands on demand, from ``holisticbias.commands`` or from the entry points of other packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*BUILT_IN, *entry_points(group=GROUP).names})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = {"Measurements": sorted(entry_points(group=GROUP).names - BUILT_IN)}
        for section, verbs in {**SECTIONS, **others}.items():
            found = [(verb, command) for verb in verbs if (command := self.get_command(ctx, verb))]
            if found:
                with formatter.section(section):
                    formatter.write_dl([(verb, command.get_short_help_str(limit=80)) for verb, command in found])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in BUILT_IN:
            command = import_module(f"holisticbias.commands.{cmd_name.replace('-', '_')}").command
        else:
            found = entry_points(group=GROUP, name=cmd_name)
            command = _load(next(iter(found))) if found else None
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and (places := self._places(ctx, name)):
            ctx.fail(f"No such command {name!r}: it is {' or '.join(f'`{ctx.command_path} {at}`' for at in places)}")
        return super().resolve_command(ctx, args)

    def _places(self, ctx: click.Context, name: str) -> list[str]:
        """The commands that a name without its group means."""
        if name in CALLED:
            return [CALLED[name]]
        groups = {verb: self.get_command(ctx, verb) for verb in self.list_commands(ctx)}
        return [f"{verb} {name}" for verb, group in groups.items() if name in getattr(group, "commands", {})]


def _load(entry: EntryPoint) -> object:
    """Load a command of another package; if that fails, return a command that prints the error."""
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        message = f"{entry.name} cannot be loaded from {entry.module}: {error}"

        @click.command(entry.name, short_help="(cannot be loaded)", context_settings={"ignore_unknown_options": True})
        @click.argument("arguments", nargs=-1)
        def unavailable(arguments: tuple[str, ...]) -> None:  # noqa: ARG001 - any use prints the message
            raise HolisticBiasError(message)

        return unavailable


@click.command(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success; 1 a check failed; 2 could not run; 130 interrupted; 141 the output was closed.",
)
@click.version_option(package_name="holisticbias", prog_name="holisticbias")
def holisticbias() -> None:
    """Compile identity terms into datasets, and measure bias in language models with them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # print escapes on a terminal whose encoding lacks a character
            stream.reconfigure(errors="backslashreplace")
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it is closed
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole process
    warnings.showwarning = _show_warning
    try:
        _refuse_broken(sys.argv[1:] if arguments is None else arguments)
        result = holisticbias.main(args=arguments, prog_name="holisticbias", standalone_mode=False)
    except click.ClickException as error:
        shown = StringIO()
        error.show(file=shown)
        return _say(shown.getvalue().removesuffix("\n"), error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        stopped = error.__cause__ if isinstance(error, click.Abort) else error
        kept = str(stopped) if isinstance(stopped, KeyboardInterrupt) else ""
        return _fail(f"interrupted; {kept or 'no partial output remains'}", INTERRUPTED)
    except SystemExit:  # click's answer to a pipe that nobody reads
        return CLOSED
    except HolisticBiasError as error:
        return _fail(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("holisticbias"):
            raise
        message = f"this needs the package {error.name!r}: pip install 'holisticbias[evaluation]'"
        return _fail(message, HolisticBiasError.exit_code)
    except MemoryError:
        return _fail("there is not enough memory for this input", HolisticBiasError.exit_code)
    except OSError as error:
        return _fail(system_message(error), HolisticBiasError.exit_code)
    return result if isinstance(result, int) else 0


def _refuse_broken(arguments: Sequence[str]) -> None:
    """Raise ``HolisticBiasError`` for an argument that is not UTF-8, such as the name of a file: no record holds it."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise HolisticBiasError(f"{argument} is not {_encoding_and_fix()}") from error


def _encoding_and_fix() -> str:
    """The encoding that names have to be in, and what to do about a name that is not."""
    encoding = sys.getfilesystemencoding()
    if encoding == "utf-8":
        return "UTF-8: rename the file"
    return f"{encoding}, the encoding of the locale: set a UTF-8 one, LC_ALL=C.UTF-8"


def _show_warning(  # the arguments are those of ``warnings.showwarning``
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Print a warning that is meant for users as one line; others as Python does."""
    if issubclass(category, WithdrawnVersionWarning):
        write(f"warning: {message}", err=True)
    else:
        write(warnings.formatwarning(message, category, filename, lineno), err=True, nl=False)


def _fail(message: str, code: int) -> int:
    one_line = " ".join(message.split())
    if "No such file" in one_line and not one_line.isascii() and sys.getfilesystemencoding() != "utf-8":
        one_line += f"; names are read as {_encoding_and_fix()}"  # Arrow reads them as UTF-8
    return _say(f"holisticbias: {one_line}", code)


def _say(message: str, code: int) -> int:
    """Print a message and return the exit code, also if nobody can read the message."""
    with suppress(OSError):
        write(message, err=True)
    return code
