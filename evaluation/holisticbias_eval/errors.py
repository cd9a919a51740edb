"""Errors of an evaluation, for callers of the API; the command line prints them as one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holisticbias.errors import HolisticBiasError


class EvaluationError(HolisticBiasError):
    """An evaluation that cannot run; the message says how to fix it."""


class ModelError(EvaluationError):
    """A model that cannot be loaded, or that gives no usable likelihoods."""


class PassingError(ModelError):
    """A model that does not answer for now; the same request can succeed later."""


class ClassifierError(EvaluationError):
    """A classifier whose card, phrases or labels are invalid, or that gives no usable probabilities."""


class RunError(EvaluationError):
    """A folder that is not a run of an evaluation."""


class TableError(EvaluationError):
    """A table or text of a user that cannot be read; the message names the file, and the row and column if known."""


class SelectionError(EvaluationError):
    """A selection of sentences that leaves nothing to measure."""


class EmbeddedModelError(EvaluationError):
    """Planted biases that are invalid, or that do not fit the release."""


class RecipeError(EvaluationError):
    """A recipe that is missing or invalid."""


class RegistryError(EvaluationError):
    """A result that the registry does not accept."""


class ReportError(EvaluationError):
    """A report that cannot be made with the given options."""


class SiteError(EvaluationError):
    """A site that cannot be made from the given releases, runs or results, or that cannot be served."""


class SpecificationError(EvaluationError):
    """A bias specification that is missing or invalid."""


class PairsError(EvaluationError):
    """A table of sentences that pairs cannot be made of."""


class CorpusError(EvaluationError):
    """Examples, labels of annotators or a split that cannot be used."""


class JudgementsError(EvaluationError):
    """Responses that cannot be paired for people to judge, or answers of annotators that cannot be used."""


class NoExamplesError(CorpusError):
    """Documents without any sentence that mentions a group and an attribute."""

    exit_code = 1


class DialoguesError(EvaluationError):
    """A folder that does not hold dialogues in a known form."""


class RetainError(EvaluationError):
    """A user's command that fails, or that reports no numbers."""


class CollectError(EvaluationError):
    """A dump or a collection that prompts cannot be collected from."""


class CutDumpError(CollectError):
    """A dump that ends in the middle; what it holds before is collected."""

    exit_code = 1


class MitigationError(EvaluationError):
    """A training that cannot run, or that broke off; the message says how to go on."""


class BrokenTrainingError(MitigationError):
    """A training whose loss is not a finite number any more."""


@contextmanager
def about_rows_of(file: Path) -> Iterator[None]:
    """Name a user's file in a ``SelectionError`` about its rows."""
    try:
        yield
    except SelectionError as error:
        raise SelectionError(f"{file}: {error}") from error
