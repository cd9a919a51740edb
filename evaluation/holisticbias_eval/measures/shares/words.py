"""Names of what a share measure compares: perplexities of sentences, or pseudo-log-likelihoods of phrases."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.statistics.cells import Compared


@dataclass(frozen=True, slots=True)
class Words:
    """Names of the share (``bias``, or ``short``), of the compared ``value``, and of what has it (``of``).

    ``column`` is the compared column of the answers, ``median`` the figure of its
    median, ``unit`` its unit; ``how`` explains the value.
    """

    bias: str
    short: str
    column: Compared
    median: str
    value: str
    values: str
    unit: str
    of: str
    how: str

    @property
    def log(self) -> bool:
        """Whether charts of the value have a logarithmic scale."""
        return self.column == "perplexity"
