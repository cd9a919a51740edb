"""Questions in plain words, each of which an option can answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import click


@dataclass(frozen=True, slots=True)
class Questions:
    """Answers given as options; what is missing is asked for, or proposed where ``yes`` is set.

    Asked again, a question proposes what was answered to it before, as long as every answer before it is the same.
    """

    given: dict[str, str | bool | None]
    yes: bool
    before: dict[str, str | bool] = field(default_factory=dict)

    def text(self, name: str, question: str, proposal: str | None = None) -> str:
        """The answer as text; nothing is no answer."""
        return str(self._answer(name, proposal, lambda default: click.prompt(question, default=default)))

    def choice(self, name: str, question: str, among: list[str], proposal: str | None = None, show: bool = True) -> str:
        """One of several answers."""
        kind = click.Choice(among)
        answer = self._answer(
            name, proposal, lambda default: click.prompt(question, type=kind, default=default, show_choices=show)
        )
        if answer not in among:
            raise click.BadParameter(f"{answer!r} is none of {', '.join(among)}.", param_hint=f"--{name}")
        return str(answer)

    def confirm(self, name: str, question: str, proposal: bool) -> bool:
        """Yes or no."""
        return bool(self._answer(name, proposal, lambda default: click.confirm(question, default=bool(default))))

    def _answer(self, name: str, proposal: str | bool | None, ask: Callable[[str | bool | None], object]) -> str | bool:
        given = self.given.get(name.replace("-", "_"))
        if given is not None:
            return given
        if not self.yes:
            answer = ask(self.before.get(name, proposal))
            return self._remember(name, answer if isinstance(answer, bool) else str(answer))
        if proposal is None:
            raise click.UsageError(f"--yes needs --{name}: there is nothing to propose.")
        return proposal

    def _remember(self, name: str, answer: str | bool) -> str | bool:
        asked = list(self.before)
        if self.before.get(name) != answer and name in asked:
            for later in asked[asked.index(name) :]:
                del self.before[later]
        self.before[name] = answer
        return answer
