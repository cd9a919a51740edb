"""Pairs of descriptors of different axes, and the words around a noun that has two descriptors."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holisticbias.compile.columns import Bools, Int32s
from holisticbias.errors import ReleaseError, UnknownTermError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Descriptor, Noun, Template
from holisticbias.terms.file_kinds import DescriptorFile, IntersectionsFile, NounFile
from holisticbias.terms.grammar import article


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of descriptors, and the nouns and templates of their sentences.

    Descriptors and nouns stand with their files. ``first`` and ``second`` are indices in
    ``descriptors``, one per pair. ``goes`` says which descriptor goes with which noun.
    ``phrases`` is the number of noun phrases of each pair: one per noun that goes with both,
    or one if a term takes the noun's place.
    """

    descriptors: tuple[tuple[DescriptorFile, Descriptor], ...]
    nouns: tuple[tuple[NounFile, Noun], ...]
    templates: tuple[Template, ...]
    goes: Bools
    first: Int32s
    second: Int32s
    phrases: Int32s
    rule: ArticleRule
    layout: int

    @property
    def sentences(self) -> int:
        """Number of sentences of all pairs."""
        return int(self.phrases.sum(dtype=np.int64)) * len(self.templates)


def find_pairs(catalog: Catalog, version: str, axes: str) -> Pairs:
    """Find the pairs of one version; ``axes`` is ``all``, or pairs of axes as in ``"ability x age, age x religion"``.

    Raises ``UnknownTermError`` for an unknown axis, ``ReleaseError`` if no pair is found.
    """
    held = catalog.at(version)
    settings = catalog.intersections or IntersectionsFile(order=tuple(a.axis for a in catalog.axes))
    by_axis = sorted(held.axes, key=lambda a: settings.rank(a.axis, None, ""))
    descriptors = tuple((a, d) for a in by_axis for d in a.descriptors)
    rank = np.array([settings.rank(a.axis, d.bucket, d.id) for a, d in descriptors])
    nouns = tuple((g, n) for g in held.genders for n in g.nouns)
    goes = np.array([[d.goes_with(g.gender, n) for g, n in nouns] for _, d in descriptors], bool)
    excluded = _excluded(descriptors, settings)
    pairs = _axis_pairs(axes, [a.axis for a in by_axis], version)
    blocks = [_block(descriptors, goes, excluded, first, second) for first, second in pairs]
    if not any(block[0].size for block in blocks) or not held.templates:
        raise ReleaseError(f"version {version} has no pair of descriptors for {axes}")
    first, second, phrases = (np.concatenate(column) for column in zip(*blocks, strict=True))
    later = rank[first] > rank[second]
    first, second = np.where(later, second, first), np.where(later, first, second)
    release = catalog.release(version)
    rule, layout = release.article_rule, release.layout
    return Pairs(descriptors, nouns, held.templates, goes, first, second, phrases, rule, layout)


def _axis_pairs(text: str, axes: list[str], version: str) -> Iterator[tuple[str, str]]:
    """Parse pairs of axes; yield each once, in the order of the axes."""
    if text.strip() == "all":
        yield from itertools.combinations(axes, 2)
        return
    wanted = []
    for part in text.split(","):
        names = re.split(r"\s+[xX×*]\s+", part.strip())  # noqa: RUF001 - people write this sign between axes
        for name in names:
            if name not in axes:
                known = ", ".join(sorted(axes))
                raise UnknownTermError(f"version {version} has no axis {name!r}; it has: {known}")
        if len(names) != 2 or names[0] == names[1]:
            raise UnknownTermError(f"{part.strip()!r}: write two different axes, as in 'ability x age', or all")
        wanted.append(tuple(sorted(names, key=axes.index)))
    yield from ((a, b) for a, b in itertools.combinations(axes, 2) if (a, b) in wanted)


def _excluded(descriptors: tuple[tuple[DescriptorFile, Descriptor], ...], settings: IntersectionsFile) -> Bools:
    """Mask of pairs that ``intersections.yaml`` excludes or that have the same text."""
    size = len(descriptors)
    selected: dict[str, list[int]] = {}
    for i, (file, d) in enumerate(descriptors):
        for name in (d.id, f"{file.axis}/{d.bucket}"):
            selected.setdefault(name, []).append(i)
    matrix = np.zeros((size, size), bool)
    for exclusion in settings.exclusions:
        these = [i for name in exclusion.these for i in selected.get(name, ())]
        those = [i for name in exclusion.those for i in selected.get(name, ())]
        matrix[np.ix_(these, those)] = matrix[np.ix_(those, these)] = True
    texts = np.unique([d.text.casefold() for _, d in descriptors], return_inverse=True)[1]
    return np.asarray(matrix | (texts[:, None] == texts))


def _block(
    descriptors: tuple[tuple[DescriptorFile, Descriptor], ...], goes: Bools, excluded: Bools, first: str, second: str
) -> tuple[Int32s, Int32s, Int32s]:
    """The pairs of two axes that make a phrase (as two columns of indices), and the number of phrases of each."""
    rows, columns = (np.flatnonzero([file.axis == name for file, _ in descriptors]) for name in (first, second))
    phrases = goes[rows].astype(np.int32) @ goes[columns].T.astype(np.int32)
    alone = np.array([d.position == "standalone" for _, d in descriptors], bool)
    one_alone = alone[rows][:, None] ^ alone[columns]
    phrases[one_alone] = 1
    gender = np.array([d.noun_gender for _, d in descriptors])
    either = (gender == "any")[rows][:, None] | (gender == "any")[columns]
    phrases[one_alone & ~either & (gender[rows][:, None] != gender[columns])] = 0
    for one in {str(g) for g in gender[alone]} - {"any"}:  # "a male girlfriend"
        denied = np.array([one in d.not_with for _, d in descriptors], bool)
        of_gender = alone & (gender == one)
        phrases[of_gender[rows][:, None] & denied[columns] | denied[rows][:, None] & of_gender[columns]] = 0
    phrases[excluded[np.ix_(rows, columns)]] = 0
    i, j = np.nonzero(phrases)
    return rows[i].astype(np.int32), columns[j].astype(np.int32), phrases[i, j]


@dataclass(frozen=True, slots=True)
class Around:
    """The text before and after the noun, singular (with its article) and plural.

    If no term comes before the noun, the noun gets its own article. A standalone
    term takes the noun's place, so there is no noun.
    """

    before: str
    after: str
    plural_before: str
    plural_after: str
    article_is_the_nouns: bool = False


def around(first: Descriptor, second: Descriptor, rule: ArticleRule) -> Around:
    """Arrange two terms around a noun; ``first`` precedes ``second`` in the order of ``intersections.yaml``."""
    before = [d for d in (first, second) if d.position == "before"]
    alone = [d for d in (first, second) if d.position == "standalone"]
    after = [d for d in (first, second) if d.position == "after"]
    article_of = [*before, *alone]
    start = f"{article(article_of[0].text, rule, article_of[0].article)} " if article_of else ""
    (text, ending), (plural_text, plural_ending) = (_words(before, alone, after, plural=p) for p in (False, True))
    return Around(f"{start}{text}", ending, plural_text, plural_ending, article_is_the_nouns=not article_of)


def _words(
    before: list[Descriptor], alone: list[Descriptor], after: list[Descriptor], *, plural: bool
) -> tuple[str, str]:
    """Words before and after the noun; a clause ("who ...") of a standalone term comes after it."""
    texts = [[(d.plural or d.text) if plural else d.text for d in terms] for terms in (before, alone, after)]
    heads = [re.split(r"\s+(?=who\b)", text, maxsplit=1) for text in texts[1]]
    ending = sorted((*(clause for _, *clauses in heads for clause in clauses), *texts[2]), key=_distance)
    glue = " and " if len({_tie(text) for text in ending}) < len(ending) else " "
    start = " ".join((*texts[0], *(head for head, *_ in heads)))
    return start + " " * bool(before and not alone), "".join(f"{glue if i else ' '}{t}" for i, t in enumerate(ending))


_NEAREST = {"of", "in", "on", "from", "at"}


def _distance(text: str) -> int:
    """Rank of a term after the noun: "a woman of faith with two kids living in poverty who stutters"."""
    word = _tie(text)
    return 0 if word in _NEAREST else {"with": 1, "who": 3}.get(word, 2)


def _tie(text: str) -> str:
    """The word that connects a term to the noun; terms with the same word are joined by "and"."""
    word = re.split(r"[\s']", text, maxsplit=1)[0]
    return {"whose": "who", "without": "with"}.get(word, word)
