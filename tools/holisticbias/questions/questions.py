"""Questions on the terminal that options can answer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click
from pydantic import ValidationError

from holisticbias.contribute.markdown import plain
from holisticbias.errors import SourceError
from holisticbias.terminal import counted, write
from holisticbias.terms.entries import Entry
from holisticbias.terms.versions import NEXT

T = TypeVar("T")
E = TypeVar("E", bound=Entry)
Given = str | bool | tuple[str, ...] | None
QUESTION = {
    "term": "The term, as written in a sentence",
    "noun": "The noun, in the singular",
    "template": "The sentence, with {noun_phrase} or {plural_noun_phrase} in it",
}
"""The question for the text of each kind of entry that is made of sentences."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Answers to questions: from options (``given``), else from the user or, if ``yes`` is set, the proposal.

    A question that is asked again proposes its last answer, unless an earlier answer has changed since. ``early`` has
    answers to questions that were asked before the data was read; each is used once. ``asked`` has the names of all
    questions so far, as they are in ``given``.
    """

    given: Mapping[str, Given]
    yes: bool
    before: dict[str, str | bool] = field(default_factory=dict)
    early: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

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
            raise click.BadParameter(f"{answer!r} is not one of {', '.join(among)}.", param_hint=option_of(name))
        return str(answer)

    def confirm(self, name: str, question: str, proposal: bool) -> bool:
        """Ask a yes-or-no question."""
        return bool(self._answer(name, proposal, lambda default: click.confirm(question, default=bool(default))))

    def lines(self, name: str, question: str, read: Callable[[str], T], least: int = 0) -> list[T]:
        """Ask for a list line by line, until an empty line; returns what ``read`` makes of each line.

        A line for which ``read`` raises ``SourceError`` is asked again; as an option, it is a ``click.BadParameter``.
        """
        given = self.given.get(name)
        self.asked.add(name)
        if not given and not self.yes:
            return self._ask_lines(name, question, read, least)
        lines = given if isinstance(given, tuple) else ()
        if len(lines) < least:
            times = "once" if least == 1 else f"{least} times"
            raise click.UsageError(f"{option_of(name)} is needed at least {times}.")
        try:
            return [read(line.strip()) for line in lines]
        except SourceError as error:
            raise click.BadParameter(f"{error}.", param_hint=option_of(name)) from error

    def text_early(self, question: str) -> None:
        """Ask for the text before anything else is read, and keep the answer for the question of this name."""
        if not self.yes and self.given.get("text") is None:
            self.early["text"] = str(answered("--text", click.prompt, question))

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
                self.refuse(name, str(error))
                offered = (near(answer) if near else None) or proposal

    def refuse(self, name: str, reason: str) -> None:
        """Print why an answer is asked for again; if it is that of an option, raise ``click.BadParameter``."""
        if self.yes or self.given.get(name):
            raise click.BadParameter(f"{reason}.", param_hint=option_of(name))
        write(f"  {reason}.", err=True)
        self.forget(name)

    def forget(self, name: str) -> None:
        """Forget the last answer to a question, and the answers after it."""
        for later in list(self.before)[list(self.before).index(name) :] if name in self.before else ():
            del self.before[later]

    def again(self) -> "Questions":
        """The same questions, with the answers of the options as proposals too."""
        texts = {name: "\n".join(value) if isinstance(value, tuple) else value for name, value in self.given.items()}
        proposals = {name: value for name, value in texts.items() if value not in (None, "")}
        return Questions({}, self.yes, {**proposals, **self.before})

    def _ask_lines(self, name: str, question: str, read: Callable[[str], T], least: int) -> list[T]:
        proposed = str(self.before.get(name, "")).splitlines()
        write(f"{question}\n  An empty line ends the list{', - removes a line' if proposed else ''}.")
        lines: list[str] = []
        parts: list[T] = []
        while True:
            default = proposed[len(lines)] if len(lines) < len(proposed) else ""
            number, shown = f"  {len(lines) + 1}", bool(default)
            line = str(answered(option_of(name), click.prompt, number, default=default, show_default=shown)).strip()
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
                write(f"  The list needs at least {counted(least, 'lines')}.", err=True)

    def _answer(self, name: str, proposal: str | bool | None, ask: Callable[[str | bool | None], object]) -> str | bool:
        self.asked.add(name)
        given = self.given.get(name)
        if given is not None and not isinstance(given, tuple):
            return given
        if not self.yes:
            default = self.before.get(name, proposal)
            answer = self.early.pop(name, None) or answered(option_of(name), ask, default)
            return self._remember(name, answer if isinstance(answer, bool) else str(answer))
        if proposal is None:
            raise click.UsageError(f"{option_of(name)} is needed: there is no proposal for it.")
        return proposal

    def _remember(self, name: str, answer: str | bool) -> str | bool:
        if self.before.get(name) != answer:
            self.forget(name)
        self.before[name] = answer
        return answer


def option_of(name: str) -> str:
    """The option that answers the question of this name."""
    return f"--{name.replace('_', '-')}"


def tried(model: type[E], keys: Mapping[str, object]) -> E | None:
    """The entry with these keys, to show it; None if it breaks the schema, which is reported when it is checked."""
    made = {"id": "x.x", "sources": ["x"], "since": NEXT, **keys}
    try:
        return model.model_validate({key: value for key, value in made.items() if value is not None})
    except ValidationError:
        return None


def answered(option: str, ask: Callable[..., T], *question: object, **settings: Any) -> T:
    """The answer to a question; ``click.UsageError`` names an option that answers it if standard input does not."""
    try:
        return ask(*question, **settings)
    except (click.Abort, UnicodeDecodeError) as error:
        write()  # the question has no line end
        if isinstance(error.__context__, KeyboardInterrupt):
            raise
        why = "ended before an answer" if isinstance(error, click.Abort) else "is not UTF-8"
        raise click.UsageError(f"{option} is needed: standard input {why}.") from error


def print_lines(title: str, lines: Iterable[str] = (), *, err: bool = False) -> None:
    """Print a title and lines below it, without characters that steer a terminal."""
    write(f"  {plain(title)}", err=err)
    for line in lines:
        write(f"    {plain(line)}", err=err)
