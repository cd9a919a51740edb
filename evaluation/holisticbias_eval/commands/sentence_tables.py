"""The record of sentences as lines for the terminal: yield by rule, quality, and attributes that lack sentences."""

from __future__ import annotations

from holisticbias_eval.figures import Figures
from holisticbias_eval.stereotypes.acceptance import RULES, UNREAD
from holisticbias_eval.stereotypes.quality import MEASURE
from holisticbias_eval.stereotypes.record import RECORD, SentencesRecord

_QUALITY = (
    ("both_terms", "both terms, of all returned", "{:.1%}"),
    ("words", "words per sentence", "{:.2f}"),
    ("distinct_words", "distinct words in 200 sentences", "{:.1f}"),
    ("positive", "positive (VADER)", "{:.1%}"),
    ("negative", "negative (VADER)", "{:.1%}"),
    ("gunning_fog", "Gunning Fog", "{:.2f}"),
    ("readability", "Automated Readability Index", "{:.2f}"),
)
_REFUSES = {rule.id: rule.refuses for rule in RULES} | UNREAD
_MOST_LINES = 20


def counts_in_words(record: SentencesRecord) -> str:
    """The yield as a line."""
    share = f" ({record.accepted / record.texts:.1%})" if record.texts else ""
    counted = f"accepted {record.accepted:,} of {record.texts:,} texts{share}"
    reached = sum(found.reached for found in record.attributes)
    return f"{counted}; {reached:,} of {len(record.attributes):,} attributes have enough sentences"


def refusal_table(record: SentencesRecord) -> list[str]:
    """A line for each rule that refused texts, the commonest first."""
    if not record.refused:
        return []
    lines = [
        f"  {rule:<24} {count:>7,} {count / record.texts:>6.1%}  {_REFUSES.get(rule, 'refused by a classifier')}"
        for rule, count in record.refused.items()
    ]
    return ["Refused by rule:", *lines]


def quality_table(record: SentencesRecord) -> list[str]:
    """The quality of the sentences beside that of the specification's own templates; - is undefined."""
    figures = Figures(record.figures)
    sources = [
        source
        for source in (record.source, "template")
        if (found := figures.get(MEASURE, "both_terms", {"source": source})) is not None and found.n
    ]
    if not sources:
        return []
    lines = [f"  {'':<32}" + "".join(f"{source:>12}" for source in sources)]
    for name, title, form in _QUALITY:
        values = [figures.value(MEASURE, name, {"source": source}) for source in sources]
        lines.append(f"  {title:<32}" + "".join(f"{'-' if v is None else form.format(v):>12}" for v in values))
    return ["Quality:", *lines]


def unreached_lines(record: SentencesRecord, most: int) -> list[str]:
    """A line for each attribute that lacks sentences; one line for all attributes that an imported file lacks."""
    found = record.unreached
    if record.source == "imported":
        return [f"{len(found):,} attributes have too few sentences in the file: see {RECORD}"] if found else []
    lines = [
        f"{row.specification}: {row.attribute} ({row.attribute_set}): too few sentences in {most} requests: "
        f"{row.accepted}"
        for row in found[:_MOST_LINES]
    ]
    more = len(found) - _MOST_LINES
    return [*lines, f"... and {more:,} more attributes: see {RECORD}"] if more > 0 else lines
