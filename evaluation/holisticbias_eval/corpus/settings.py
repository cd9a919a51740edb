"""Settings of the commands that make a corpus of people's sentences."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Literal

from holisticbias_eval.errors import CorpusError
from holisticbias_eval.settings import Condition, Settings, setting, split_names

AnnotationForm = Literal["csv", "label-studio"]
_UNRECORDED = {"text_field", "paragraphs", "without", "years"}


class RetrievalSettings(Settings):
    """Settings of a retrieval."""

    text_field: str | None = setting(
        None,
        "Field with the text. Default: the first of body, text, comment.",
        flags=["--field"],
        metavar="NAME",
    )
    paragraphs: bool = setting(False, "Text files: a document is a paragraph instead of a line.")
    words: int = setting(7, "Words to either side of the group's term.", ge=0)
    until: date | None = setting(
        None,
        "Only documents from before this day (UTC), and from --years before it on. Zhao et al. 2024: 2022-03-10.",
        metavar="YYYY-MM-DD",
    )
    years: int = setting(3, "Years before --until.", metavar="N", ge=1, le=1000)
    dated: bool = setting(False, "Leave out documents without a date.")
    per_group: int | None = setting(
        None,
        "Most sentences of each group. Default: 10,000. Every group gets as many as the group with the fewest.",
        metavar="N",
        ge=1,
    )
    unequal: bool = setting(False, "Keep more sentences of groups that have more.")
    held_out: bool = setting(False, "Retrieve sentences about held-out groups too.")
    without: tuple[Path, ...] = setting(
        (),
        "File with identifiers to leave out, one per line: ids of documents, FILE:LINE, or ids of examples. Repeat for "
        "more files.",
        metavar="FILE",
    )
    seed: int = setting(0, "Seed of the draw.", ge=0)

    conditions: ClassVar[Mapping[str, tuple[Condition, ...]]] = {
        "years": (Condition("with --until", lambda values: values.get("until") is not None),)
    }

    @property
    def since(self) -> date | None:
        """The first day: ``years`` before ``until``, and 28 February for 29 February. Raises ``CorpusError``."""
        if self.until is None:
            return None
        year = self.until.year - self.years
        if year < 1:
            raise CorpusError(f"there is no year {year}: give fewer --years")
        try:
            return self.until.replace(year=year)
        except ValueError:
            return self.until.replace(year=year, day=28)

    @property
    def recorded(self) -> dict[str, Any]:
        """The settings that decide which sentences of the documents are drawn, as JSON."""
        since = None if self.since is None else self.since.isoformat()
        return {"words": self.words, "since": since, **self.model_dump(mode="json", exclude=_UNRECORDED)}


class AnnotationSettings(Settings):
    """Settings of the files for annotators, or files with their labels, which are joined to the examples."""

    form: AnnotationForm = setting(
        "csv",
        "CSV with the columns ID, Target, Attribute, Sentence and Label, or tasks for Label Studio.",
        flags=["--format"],
    )
    annotators: str | None = setting(
        None, "A file for each. Optional for Label Studio, which knows its users.", metavar="NAME,NAME..."
    )
    per_example: int | None = setting(None, "Annotators of each example, in turns. Default: all.", metavar="N", ge=1)
    seed: int = setting(0, "Seed of the order of examples.", ge=0)
    labels: tuple[Path, ...] = setting(
        (),
        "Files with labels: annotators' CSV files, or JSON exports of Label Studio. More files may follow.",
        metavar="FILE...",
    )

    conditions: ClassVar[Mapping[str, tuple[Condition, ...]]] = dict.fromkeys(
        ("form", "annotators", "per_example", "seed"),
        (Condition("without --labels", lambda values: not values.get("labels")),),
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators."""
        return split_names([self.annotators or ""])


class SplitSettings(Settings):
    """Settings of a split."""

    test: int | None = setting(
        None, "Sentences of each group for the test. Default: 15% of the smallest group's.", metavar="N", ge=0
    )
    validation: int | None = setting(
        None, "Sentences of each group for the validation. Default: 15% of the smallest group's.", metavar="N", ge=0
    )
    seed: int = setting(0, "Seed of the draw.", ge=0)
    apart: bool = setting(
        False, "Leave sentences out of the training that differ from a test or validation sentence in the group alone."
    )
    draw_from: str | None = setting(
        None,
        "Groups whose sentences the test and validation are drawn from. Default: all that have some.",
        metavar="A,B",
    )

    @property
    def drawn_from(self) -> tuple[str, ...]:
        """The groups to draw from; empty for all that have sentences."""
        return split_names([self.draw_from or ""])
