"""Questions on the terminal that options can answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import click


@dataclass(frozen=True, slots=True)
class Questions:
    """Answers to questions: from options (``given``), else from the user or, if ``yes`` is set, the proposal.

    A question that is asked again proposes its last answer, unless an earlier answer has changed since.
    """

    given: dict[str, str | bool | None]
    yes: bool
    before: dict[str, str | bool] = field(default_factory=dict)

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

    def _answer(self, name: str, proposal: str | bool | None, ask: Callable[[str | bool | None], object]) -> str | bool:
        given = self.given.get(name.replace("-", "_"))
        if given is not None:
            return given
        if not self.yes:
            answer = ask(self.before.get(name, proposal))
            return self._remember(name, answer if isinstance(answer, bool) else str(answer))
        if proposal is None:
            raise click.UsageError(f"--yes needs --{name}: there is no proposal for it.")
        return proposal

    def _remember(self, name: str, answer: str | bool) -> str | bool:
        asked = list(self.before)
        if self.before.get(name) != answer and name in asked:
            for later in asked[asked.index(name) :]:
                del self.before[later]
        self.before[name] = answer
        return answer
