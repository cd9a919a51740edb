"""The files of ``releases/``: one version with its layout and its digests, and the lock of its entries."""

from typing import Annotated, Literal

from pydantic import Field

from holisticbias.terms.entries import ArticleRule, Date, Key, Prose, Record
from holisticbias.terms.versions import Number, Version

WITH_PROMPTS = 4  # first layout with the tables collections, prompts and specifications
WITH_FORMS = 5  # first layout with the word forms of groups
IN_PREPARATION = "In preparation"  # start of the summary of a version until it is written
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Withdrawal(Record):
    """Date and reason of the withdrawal of a published version, which still compiles and verifies."""

    date: Date
    reason: Prose

    def __str__(self) -> str:
        """The date and the reason, on one line."""
        return f"{self.date}: {' '.join(self.reason.split())}"


class ReleaseFile(Record):
    """A file in ``releases/``: one version, its date, its layout and its digests."""

    version: Version
    date: Date | None = Field(None, description="set when the version is frozen")
    summary: Prose
    article_rule: ArticleRule = Field(description="how articles are chosen: by first letter, or by first sound")
    layout: Literal[1, 2, 3, 4, 5] = Field(
        1,
        description="columns: 2 adds without_noun, not_with and paraphrase_of; 3 adds axis_label and opposite_of; "
        "4 adds the tables collections, prompts and specifications; 5 adds the word forms of groups",
    )
    digest: Sha256 | None = Field(None, description="digest of the release, set when the version is published")
    tables: dict[Key, Sha256] = Field(
        {}, description="digest of the rows of each table, set when the version is published"
    )
    withdrawn: Withdrawal | None = Field(None, description="set by holisticbias releases --withdraw")


class LockFile(Record):
    """``releases/VERSION.lock.json``: digests of a published version's entries."""

    version: Number
    entries: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]]
