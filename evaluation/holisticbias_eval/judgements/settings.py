"""Settings of the commands with which people compare responses."""

from holisticbias_eval.settings import Settings, setting

NO_LIST = "none"
"""The name of no list of inflammatory prompts."""


class StudySettings(Settings):
    """How many pairs are shown, to how many annotators, with how many catch questions, and what is not shown.

    Each pair is on ``per_pair`` of the sheets; each annotator answers one sheet.
    """

    pairs: int = setting(100, "Pairs of responses to show.", ge=1)
    per_pair: int = setting(3, "Annotators of each pair.", metavar="N", ge=1, le=500)
    sheets: int | None = setting(
        None,
        "Sheets among which the pairs are divided; each annotator answers one. Default: as many as --per-pair, with "
        "all pairs on each.",
        ge=1,
        le=500,
    )
    catch: int = setting(4, "Catch questions on each sheet.", ge=0)
    ties: bool = setting(False, "Offer the choice 'No difference'. Without it annotators choose, as in the paper.")
    questions: str = setting("acute-eval", "Questions to ask: a name or a YAML file.")
    inflammatory: str = setting("holisticbias", f"List of prompts not to show: a name, a YAML file, or '{NO_LIST}'.")
    threshold: float = setting(
        0.5,
        "Leave out texts whose probability of being offensive is at least this, if the runs have it.",
        ge=0,
        le=1,
    )
    seed: int = setting(0, "Seed of pairs, sides and order.", ge=0)

    @property
    def sheet_count(self) -> int:
        """The number of sheets."""
        return self.sheets or self.per_pair


class AnalysisSettings(Settings):
    """Settings of an analysis."""

    least: float = setting(0.8, "Leave out annotators who pass a smaller share of their catch questions.", ge=0, le=1)
