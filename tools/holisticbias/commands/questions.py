"""Questions on the terminal that options can answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import click

from holisticbias.errors import SourceError
from holisticbias.terminal import write

if TYPE_CHECKING:
    from holisticbias.terms.catalog import Catalog

T = TypeVar("T")
Given: TypeAlias = "str | bool | tuple[str, ...] | None"


@dataclass(frozen=True, slots=True)
class Questions:
    """Answers to questions: from options (``given``), else from the user or, if ``yes`` is set, the proposal.

    A question that is asked again proposes its last answer, unless an earlier answer has changed since. ``early`` has
    answers to questions that were asked before the data was read; each is used once.
    """

    given: Mapping[str, Given]
    yes: bool
    before: dict[str, str | bool] = field(default_factory=dict)
    early: dict[str, str] = field(default_factory=dict)

    def text(self, name: str, question: str, proposal: str | None = None) -> str:
        """Ask for a text; an empty one is not accepted."""
        return str(self._answer(name, proposal, lambda default: click.prompt(question, default=default)))

    def choice(self, name: str, question: str, among: list[str], proposal: str | None = None, show: bool = True) -> str:
        """Ask for one of several texts."""
        kind = click.Choice(among)
        answer = self._answer(
            name, proposal, lambda default: click.prompt(question, type=kind, default=default, show_choices=show)
        )
        if answer not in among:
            raise click.BadParameter(f"{answer!r} is not one of {', '.join(among)}.", param_hint=f"--{name}")
        return str(answer)

    def confirm(self, name: str, question: str, proposal: bool) -> bool:
        """Ask a yes-or-no question."""
        return bool(self._answer(name, proposal, lambda default: click.confirm(question, default=bool(default))))

    def lines(self, name: str, question: str, read: Callable[[str], T], least: int = 0) -> list[T]:
        """Ask for a list line by line, until an empty line; returns what ``read`` makes of each line.

        A line for which ``read`` raises ``SourceError`` is asked again; as an option, it is a ``click.BadParameter``.
        """
        given = self.given.get(name)
        if given and isinstance(given, tuple):
            return self._given_lines(name, given, read, least)
        if self.yes:
            if least:
                raise click.UsageError(f"--{name} is needed {_times(least)}.")
            return []
        write(f"{question}\n  An empty line ends the list{', - removes a line' if self.before.get(name) else ''}.")
        return self._ask_lines(name, read, least)

    def text_early(self, name: str, question: str) -> None:
        """Ask for a text before anything else is read, and keep the answer for the question of this name."""
        if not self.yes and self.given.get(name) is None:
            self.early[name] = str(click.prompt(question))

    def find(
        self,
        name: str,
        question: str,
        find: Callable[[str], T],
        near: Callable[[str], str | None] | None = None,
        proposal: str | None = None,
    ) -> T:
        """Ask until ``find`` returns a value for the answer; proposes ``near`` after an answer that it refuses.

        ``find`` raises ``SourceError``; for an option this is a ``click.BadParameter``.
        """
        offered = proposal
        while True:
            answer = self.text(name, question, offered)
            try:
                return find(answer)
            except SourceError as error:
                if self.yes or self.given.get(name):
                    raise click.BadParameter(f"{error}.", param_hint=f"--{name}") from error
                print_lines(f"{error}.", err=True)
                self.forget(name)
                offered = (near(answer) if near else None) or proposal

    def forget(self, name: str) -> None:
        """Forget the last answer to a question, and the answers after it."""
        for later in list(self.before)[list(self.before).index(name) :] if name in self.before else ():
            del self.before[later]

    def again(self) -> Questions:
        """The same questions, with the answers of the options as proposals too."""
        given = {name.replace("_", "-"): value for name, value in self.given.items() if value not in (None, ())}
        texts = {name: "\n".join(value) if isinstance(value, tuple) else value for name, value in given.items()}
        return Questions({}, self.yes, {**{k: v for k, v in texts.items() if v is not None}, **self.before})

    def _given_lines(self, name: str, given: tuple[str, ...], read: Callable[[str], T], least: int) -> list[T]:
        if len(given) < least:
            raise click.UsageError(f"--{name} is needed {_times(least)}.")
        try:
            return [read(line.strip()) for line in given]
        except SourceError as error:
            raise click.BadParameter(f"{error}.", param_hint=f"--{name}") from error

    def _ask_lines(self, name: str, read: Callable[[str], T], least: int) -> list[T]:
        proposed = str(self.before.get(name, "")).splitlines()
        lines: list[str] = []
        parts: list[T] = []
        while True:
            default = proposed[len(lines)] if len(lines) < len(proposed) else ""
            line = str(click.prompt(f"  {len(lines) + 1}", default=default, show_default=bool(default))).strip()
            if line == "-":
                del proposed[len(lines) : len(lines) + 1]
            elif line:
                try:
                    parts.append(read(line))
                    lines.append(line)
                except SourceError as error:
                    write(f"  {error}", err=True)
            elif len(lines) >= least:
                self._remember(name, "\n".join(lines))
                return parts
            else:
                write(f"  The list needs {least} lines or more.", err=True)

    def _answer(self, name: str, proposal: str | bool | None, ask: Callable[[str | bool | None], object]) -> str | bool:
        given = self.given.get(name.replace("-", "_"))
        if given is not None and not isinstance(given, tuple):
            return given
        if not self.yes:
            answer = self.early.pop(name, None) or ask(self.before.get(name, proposal))
            return self._remember(name, answer if isinstance(answer, bool) else str(answer))
        if proposal is None:
            raise click.UsageError(f"--{name} is needed: there is no proposal for it.")
        return proposal

    def _remember(self, name: str, answer: str | bool) -> str | bool:
        if self.before.get(name) != answer:
            self.forget(name)
        self.before[name] = answer
        return answer


def _times(least: int) -> str:
    return "at least once" if least == 1 else f"at least {least} times"


def ask_source(catalog: Catalog, ask: Questions) -> str:
    """Ask for the source of an entry."""
    known = [source.id for source in catalog.sources]
    question = "Where does it come from (contributors, or another id in sources.yaml)?"
    return ask.choice("from", question, known, "contributors", show=False)


def print_lines(title: str, lines: Iterable[str] = (), *, err: bool = False) -> None:
    """Print a title and lines below it, without characters that steer a terminal."""
    from holisticbias.contribute.diff_report import plain

    write(f"  {plain(title)}", err=err)
    for line in lines:
        write(f"    {plain(line)}", err=err)
