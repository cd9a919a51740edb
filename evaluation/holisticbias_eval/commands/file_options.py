"""Options of ``evaluate`` that name files: pairs, test sets, and texts and commands of retention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import click

from holisticbias_eval.commands.option_groups import option_group

if TYPE_CHECKING:
    from holisticbias_eval.pipeline.pair_scoring import PairOptions
    from holisticbias_eval.pipeline.retention import RetainOptions
    from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions

F = TypeVar("F", bound=Callable[..., Any])


class FileArguments(TypedDict):
    """The values of the options."""

    pairs: Path | None
    mode: Literal["likelihood", "choice", "published"]
    test_set: Path | None
    retain: tuple[str, ...]
    retain_command: str | None


@dataclass(frozen=True, slots=True)
class Files:
    """The files and commands that measures are of."""

    pairs: PairOptions | None
    test_set: TestSetOptions | None
    retain: RetainOptions

    @property
    def measures(self) -> list[str]:
        """The measures of the files that are given."""
        files: Mapping[str, object] = {"stereotype_score": self.pairs, "group_perplexity": self.test_set}
        return [*(name for name, file in files.items() if file is not None), *self.retain.measures]

    def refuse_unused(self, measures: Sequence[tuple[str, ...]]) -> None:
        """Raise a usage error for a value of ``--retain`` that no measure uses."""
        names = [name for measures_of_run in measures for name in measures_of_run]
        unused = [name for name in self.retain.measures if name not in names]
        if unused:
            raise click.UsageError(f"--retain and --retain-command are given for {unused[0]}: add it to --measure")


_pair_options = option_group(
    "Pairs of sentences",
    click.option(
        "--pairs",
        type=click.Path(path_type=Path),
        help="File of pairs for stereotype_score, or a folder that holisticbias stereotypes pairs wrote. Without "
        "--measure, stereotype_score is measured.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["likelihood", "choice", "published"]),
        default="likelihood",
        show_default=True,
        help="likelihood: of both sentences. choice: a chat model chooses between both, in both orders. published: "
        "the formulas of the code of Kocielnik et al. 2023.",
    ),
)
_test_set_options = option_group(
    "Sentences about several groups",
    click.option(
        "--test-set",
        type=click.Path(path_type=Path),
        help="File of sentences for group_perplexity, with the columns dimension, group and sentence, or the folder of "
        "a split. Without --measure, group_perplexity is measured. Default: the calibration's.",
    ),
)
_retain_options = option_group(
    "Retention",
    click.option(
        "--retain",
        multiple=True,
        metavar="FILE|multiwoz:FOLDER",
        help="For retention, a file of neutral text, one text per line; for dialogue_state, a folder of MultiWOZ 2.0 "
        "or 2.1. Without --measure, these are measured.",
    ),
    click.option(
        "--retain-command",
        metavar="COMMAND",
        help="For retained: a command to run, without a shell. {model} in it becomes the model, {out} a path to write "
        "to. It must report a JSON object of numbers: there, or as its last line.",
    ),
)


def file_options(command: F) -> F:
    """Add the options to a command."""
    return _pair_options(_test_set_options(_retain_options(command)))


def read_files(given: FileArguments) -> Files:
    """The files and commands of the options; raises ``EvaluationError`` if an option of retention cannot be read."""
    from holisticbias_eval.pipeline.pair_scoring import PairOptions
    from holisticbias_eval.pipeline.retention import read_retain
    from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions

    pairs, mode, test_set = given["pairs"], given["mode"], given["test_set"]
    return Files(
        None if pairs is None else PairOptions(pairs, mode),
        None if test_set is None else TestSetOptions(test_set),
        read_retain(given["retain"], given["retain_command"]),
    )
