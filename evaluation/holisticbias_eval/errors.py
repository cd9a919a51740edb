"""Errors of an evaluation: caught only in the command line, and printed as one line."""

from __future__ import annotations

from holisticbias.errors import HolisticBiasError


class EvaluationError(HolisticBiasError):
    """An evaluation that could not run; the message says how to mend it."""


class ModelError(EvaluationError):
    """A model that cannot be loaded, or that gives no usable likelihoods."""


class RunError(EvaluationError):
    """A folder that is not a run of an evaluation."""


class ScoresError(EvaluationError):
    """A file that is no table of scores."""


class SelectionError(EvaluationError):
    """A selection of sentences that leaves nothing to measure."""


class EmbeddedModelError(EvaluationError):
    """Planted biases that are not as they must be, or that no release can hold."""


class RecipeError(EvaluationError):
    """A recipe that is not there, or is not as it must be."""


class RegistryError(EvaluationError):
    """A result that the registry cannot take."""


class ReportError(EvaluationError):
    """A report that cannot be made as asked."""
