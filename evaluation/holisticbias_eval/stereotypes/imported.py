"""Sentences from a file of this package or of Kocielnik et al. 2023: read, and judged as those of a generator."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa

from holisticbias.inputs import whole_text
from holisticbias.terms.specification_entries import Specification, term_key
from holisticbias_eval.errors import EvaluationError, PairsError
from holisticbias_eval.stereotypes import record
from holisticbias_eval.stereotypes.few_shot import LONGEST
from holisticbias_eval.stereotypes.record import Returned
from holisticbias_eval.stereotypes.rounds import SentenceJudging, Wanted
from holisticbias_eval.stereotypes.specifications import found_specifications, read_specifications
from holisticbias_eval.stereotypes.targets import GroupTerm, all_terms
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import file_in, table_suffix
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tables.rows import read_rows

_OWN = {"sentence": "sentence", "attribute": "attribute", "group term": "term"}
_GENERATED = {
    "Generated sentence": "sentence",
    "Attribute word": "attribute",
    "Group Term": "term",
    "Bias Name": "specification",
    "Template version": "template",
    "Discarded": "discarded",
    "Reason for discard": "reason",
}
_PAIRS = {
    "sent_att_1": "sentence",
    "group_term": "attribute",
    "att_term_1": "term",
    "group": "specification",
    "discarded": "discarded",
}
SENTENCES = Form(
    "sentences",
    (
        Field("sentence", "text", need=True),
        *columns("label", "attribute", "term", need=True),
        *columns("label", "specification", "discarded", "reason", "template"),
        *columns("label", "sentence_id", "attribute_set", "group", "source", "generator"),
    ),
    published=(_GENERATED, _PAIRS, _OWN),
    any_case=True,
)
"""Sentences with the attribute and the term in them: of this package, of a user, or of the published code."""
_NO_SOURCES = {
    frozenset({"att_term_1", "att_term_2", "template"}): (
        "pairs already: read their sentences with `holisticbias stereotypes sentences --import`"
    ),
    frozenset({"sentence", "other_sentence"}): "pairs already: name the folder of their sentences",
    frozenset({"accepted", "rule"}): f"refused texts too: name its folder, or {record.SENTENCES} in it",
}
"""Tables with sentences that are not to be paired, by their columns."""
_STRIPPED = ("sentence", "attribute", "term", "specification")
_UNDISCARDED = {"", "0", "0.0", "false", "no", "nan", "none"}
_MISSING = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None")
_NUMBER = re.compile(r"-?\d+(\.\d*)?")


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of a file with its attribute and term; what the file does not have is null or empty.

    ``row`` counts from 1. ``template``, ``discarded`` and ``reason`` are those of a file of the published code.
    """

    row: int
    sentence: str
    attribute: str
    term: str
    specification: str | None = None
    sentence_id: str = ""
    attribute_set: str | None = None
    group: str | None = None
    source: str = "imported"
    generator: str | None = None
    template: str | None = None
    discarded: str = ""
    reason: str = ""

    @property
    def is_discarded(self) -> bool:
        """Whether the file marks the sentence as discarded."""
        return self.discarded.strip().casefold() not in _UNDISCARDED


def read_sentences(path: Path) -> list[SourceSentence]:
    """Read the sentences of a file, in order, to judge them.

    A user's table has the columns ``sentence``, ``attribute`` and ``group term`` (or ``term``), and may have
    ``specification``. The published code's ``gen_csv``, ``gen_pairs_csv``, whose first sentence of each pair is the
    generated one, and ``gen_json`` are known by their columns. Raises ``EvaluationError`` with what the file lacks.
    """
    if table_suffix(path) == ".json" and not any("sentence" in row for row in read_rows(path)):
        sentences = list(_read_json(path))
    else:
        sentences = _sentences(SENTENCES.read(path))
    return _complete(sentences, path)


def read_source_sentences(path: Path) -> list[SourceSentence]:
    """Read the sentences of a folder with ``sentences.parquet``, or of a table, to pair them.

    A table has the columns attribute, term, sentence and, unless one specification is given, specification; or the
    columns of the published code. Raises ``EvaluationError``.
    """
    advice = "name a folder that `holisticbias stereotypes sentences` wrote, or a table"
    opened = SENTENCES.open(file_in(path, record.SENTENCES, advice, PairsError))
    for names, holds in _NO_SOURCES.items():
        if names <= {*opened.names}:
            raise PairsError(f"{path} holds {holds}")
    return _complete(_sentences(SENTENCES.read(opened)), path)


def _complete(sentences: list[SourceSentence], path: Path) -> list[SourceSentence]:
    """The sentences, each of which has an attribute and a term."""
    if not sentences:
        raise EvaluationError(f"{path} has no sentences")
    for sentence in sentences:
        for what in ("attribute", "term"):
            if not getattr(sentence, what):
                raise EvaluationError(f"{path}: row {sentence.row}: the {what} is missing: every sentence needs one")
    return sentences


def _sentences(table: pa.Table) -> list[SourceSentence]:
    cells = {name: [text or "" for text in table[name].to_pylist()] for name in table.column_names}
    cells |= {name: [text.strip() for text in cells[name]] for name in _STRIPPED if name in cells}
    cells |= {name: as_published(cells[name]) for name in ("discarded", "reason") if name in cells}
    sentences = []
    for row, values in enumerate(zip(*cells.values(), strict=True), 1):
        texts = {"sentence": "", "attribute": "", "term": "", "sentence_id": f"row-{row}"}
        texts |= {name: text for name, text in zip(cells, values, strict=True) if text or name == "template"}
        sentences.append(SourceSentence(row=row, **texts))
    return sentences


def _read_json(path: Path) -> Iterator[SourceSentence]:
    """The sentences of a ``gen_json`` file: a list of biases, with attributes by set."""
    row = 0
    try:
        for bias in read_rows(path):
            sets = [value for key, value in bias.items() if key != "name"]
            for asked in (asked for values in sets for asked in values.values()):
                for entry in asked["sentences"]:
                    row += 1
                    texts = (entry["sentence"], entry["attribute_term"], entry["group_term"], bias["name"])
                    yield SourceSentence(row, *(whole_text(str(text)) for text in texts))
    except (TypeError, KeyError, AttributeError) as error:
        raise EvaluationError(
            f"{path} is not a gen_json file: a list of objects with a name, and with sentences by attribute"
        ) from error


def as_published(values: Sequence[str]) -> list[str]:
    """A column of text as pandas reads and writes it: with an empty value, whole numbers become "3.0".

    A reason that is a number and not a list is therefore in none of the columns of categories.
    """
    missing = any(value in _MISSING for value in values)
    numbers = all(value in _MISSING or _NUMBER.fullmatch(value) for value in values)
    decimal = numbers and (missing or any("." in value for value in values))
    return ["" if v in _MISSING else repr(float(v)) if decimal else v for v in values]


_FIT = 0.5  # share of a name's words that a specification must have
Placed = Sequence[tuple[SourceSentence, Specification]]


def find_specifications(
    path: Path, sentences: Sequence[SourceSentence], version: str | None
) -> tuple[Specification, ...]:
    """The specifications of a version that a file names, by id or published name, in order of first occurrence.

    Raises ``EvaluationError`` if a row names none, or if a name is unknown.
    """
    refuse_unnamed(path, sentences)
    names = dict.fromkeys(sentence.specification for sentence in sentences)
    return read_specifications([name for name in names if name is not None], version)


def place_sentences(path: Path, sentences: Sequence[SourceSentence], specifications: Sequence[Specification]) -> Placed:
    """The sentences that belong to the specifications, each with the one that takes its name.

    A specification takes rows with its id or published name, and rows without a name if it is the only one. A name of
    no other known specification goes to the first of which at least half of the attributes and half of the terms with
    it are. Raises ``EvaluationError`` if no sentence belongs to one, or if it is not clear to which.
    """
    refuse_unnamed(path, sentences, specifications)
    names = dict.fromkeys(sentence.specification for sentence in sentences)
    chosen: dict[str | None, Specification | None] = {
        name: s for s in reversed(specifications) for name in (None, s.id, s.published_as)
    }
    if others := names.keys() - chosen.keys():
        known = {name for s in found_specifications().values() for name in (s.id, s.published_as)}
        for name in others:
            rows = () if name in known else [sentence for sentence in sentences if sentence.specification == name]
            chosen[name] = next((s for s in specifications if rows and _takes(s, rows)), None)
    placed = [(sentence, taken) for sentence in sentences if (taken := chosen[sentence.specification]) is not None]
    if not placed:
        raise EvaluationError(
            f"{path} has no sentences of {', '.join(s.id for s in specifications)}; "
            f"it has those of {', '.join(map(str, [*names][:8]))[:300]}"
        )
    return placed


def refuse_unnamed(
    path: Path, sentences: Sequence[SourceSentence], specifications: Sequence[Specification] = ()
) -> None:
    """Raise ``EvaluationError`` if a row names no specification, unless one alone was chosen."""
    if len(specifications) != 1 and any(sentence.specification is None for sentence in sentences):
        raise EvaluationError(f"{path} does not name a specification in every row: give one with --specification")


def _takes(specification: Specification, rows: Sequence[SourceSentence]) -> bool:
    attributes = [term for chosen in specification.attributes for term in chosen.terms]
    fits = _fit([row.term for row in rows], all_terms(specification))
    return fits and _fit([row.attribute for row in rows], attributes)


def _fit(named: Iterable[str], known: Iterable[str]) -> bool:
    words = set(map(term_key, named))
    return len(words & set(map(term_key, known))) >= _FIT * len(words)


def judge_imported(placed: Placed, attributes: Sequence[Wanted], judging: SentenceJudging) -> list[Returned]:
    """The log of imported sentences, judged by the rules; their request is the row in the file."""
    by_target = {_place(w.target.specification, w.target.attribute_set, w.target.attribute): w
                 for w in reversed(attributes)}  # fmt: skip
    rows = []
    for sentence, specification in placed:
        attribute_set = find_attribute_set(sentence, specification)
        wanted = by_target.get(_place(specification.id, attribute_set, sentence.attribute))
        row = _judge(sentence, specification.id, wanted, judging)
        if wanted is not None:
            wanted.count([row])
        rows.append(row)
    judged = judging.classified(rows)
    for wanted in attributes:
        wanted.groups.clear()
        wanted.count([row for row in judged if row.target == wanted.target])
    return judged


def _place(specification: str, attribute_set: str | None, attribute: str) -> tuple[str, str | None, str]:
    return specification, attribute_set, term_key(attribute)


def find_term(sentence: SourceSentence, terms: Iterable[GroupTerm]) -> GroupTerm | None:
    """The term of a sentence, in the first slot that has it; of several groups the one that is given, or the first."""
    key = term_key(sentence.term)
    fitting = (t for t in terms if sentence.group in (None, t.group) and term_key(t.term) == key)
    return min(fitting, key=lambda term: term.slot, default=None)


def find_attribute_set(sentence: SourceSentence, specification: Specification) -> str | None:
    """The set of a sentence's attribute: the one that is given, or the first with this word; null if none has it."""
    attribute = term_key(sentence.attribute)
    for attributes in specification.attributes:
        is_asked = sentence.attribute_set in (None, attributes.name)
        if is_asked and attribute in map(term_key, attributes.terms):
            return attributes.name
    return None


def _judge(sentence: SourceSentence, specification: str, wanted: Wanted | None, judging: SentenceJudging) -> Returned:
    text = " ".join(sentence.sentence[:LONGEST].split())
    drawn = find_term(sentence, chain.from_iterable(wanted.terms.values())) if wanted else None
    rule: str | None = "discarded" if sentence.is_discarded else "not-in-specification"
    if wanted and drawn and not sentence.is_discarded:
        rule = judging.refusing(text, drawn.term, wanted, wanted.seen)
    return Returned(
        request=sentence.row,
        specification=specification,
        attribute_set=wanted.target.attribute_set if wanted else None,
        attribute=wanted.target.attribute if wanted else sentence.attribute,
        group=drawn.group if drawn else None,
        slot=drawn.slot if drawn else None,
        term=drawn.term if drawn else sentence.term,
        sample=0,
        prompt_sha256=None,
        text=text,
        sentence=text,
        accepted=rule is None,
        rule=rule,
    )
