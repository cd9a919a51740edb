"""Contexts, which a model reads before each sentence, and texts without one, whose first token is not scored."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from holisticbias.compile.random_words import random_number
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.scorer import Scores
from holisticbias_eval.models.likelihood.spans import Repeated, Spans
from holisticbias_eval.prompts.selection import Skipped
from holisticbias_eval.tables.content import content_lines, read_content


@dataclass(frozen=True, slots=True)
class Context:
    """Contexts to draw from, and their entry in a run's signature; empty without a context."""

    lines: tuple[str, ...] = ("",)
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)

    def draw(self, sentences: Sequence[str], *, joined: bool) -> Sequence[str]:
        """Draw a context for each sentence.

        The draw depends only on the seed and the sentence's text, not on the
        other sentences, their order or the machine. If context and sentence are
        ``joined`` into one text, a space separates them.
        """
        lines = [_apart(line) for line in self.lines] if joined else self.lines
        if len(lines) == 1:
            return Repeated(lines[0], len(sentences))
        return [lines[random_number(f"{self.seed} {text}") % len(lines)] for text in sentences]


def read_context(text: str | None, file: Path | None, seed: int | None) -> Context:
    """The contexts of a run, from its options; raises ``EvaluationError`` if these conflict or the file is unusable."""
    if text is not None and file is not None:
        raise EvaluationError("--context and --context-file exclude each other: leave one out")
    if seed is not None and file is None:
        raise EvaluationError("--context-seed needs --context-file, the file to draw from")
    if file is None:
        return Context((text,), settings={"context": text}) if text else Context()
    lines, digest = lines_to_draw(file)
    seed = seed or 0
    drawn = f"a line of {file.name} for each sentence, by seed {seed}; {len(lines):,} lines, SHA-256 {digest}"
    return Context(lines, seed, {"context": drawn})


def lines_to_draw(file: Path) -> tuple[tuple[str, ...], str]:
    """The lines of a file that are not blank, and the SHA-256 of its content; ``EvaluationError`` without a line."""
    content = read_content(file)
    lines = tuple(line.strip() for line in content_lines(file, content) if line.strip())
    if not lines:
        raise EvaluationError(f"{file} has no line with text to draw: write one text per line")
    return lines, hashlib.sha256(content).hexdigest()


def _apart(line: str) -> str:
    return f"{line} " if line and not line[-1].isspace() else line


UNSCORED = "unscored"
"""The name of the setting of a run that says what is not scored."""
NOTHING_LEFT = (
    "all texts that are compared differ in their first word alone, and its first token is not scored because nothing "
    "precedes it: name the token between documents with --first-token TOKEN"
)
_FIRST = re.compile(r"\W*\w+|\W+")


@dataclass(frozen=True, slots=True)
class Unscored:
    """How many ``texts`` of a run have a first token that is not scored, of all its texts, and what this means.

    ``left_out`` is the number of ``things``, such as pairs, that differ in the first word alone and are not scored,
    ``kept`` the number that are scored all the same, and ``also`` the number that differ in other words too.
    ``things`` has their name in the singular and the plural.
    """

    texts: int
    of: int
    left_out: int = 0
    kept: int = 0
    also: int = 0
    things: tuple[str, str] = ("pair that differs", "pairs that differ")

    @property
    def settings(self) -> Mapping[str, str]:
        """The setting that says how much is not scored, for a signature; empty if everything is scored."""
        if not self.texts:
            return {}
        said = [f"the first token of {self.texts:,} of {self.of:,} texts, which nothing precedes"]
        if self.left_out:
            said.append(f"{self._count(self.left_out)} in the first word alone, left out")
        if self.kept:
            said.append(f"{self._count(self.kept)} in the first word alone, counted as published")
        if self.also:
            said.append(f"{self._count(self.also)} in the first word and in others, counted")
        return {UNSCORED: "; ".join(said)}

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The number that is left out, with the reason."""
        reason = f"{self.things[1]} in the first word alone, whose first token is not scored"
        return (Skipped(reason=reason, sentences=self.left_out),) if self.left_out else ()

    def _count(self, number: int) -> str:
        return f"{number:,} {self.things[number != 1]}"


ALL_SCORED = Unscored(0, 0)


@dataclass(frozen=True, slots=True)
class AskedSpans:
    """Spans to score in one call, the table that their scores become, and what is not scored."""

    together: Spans
    answer: Callable[[Scores], pa.Table]
    unscored: Unscored = ALL_SCORED


def count_unscored(contexts: Sequence[str], *, first_token_scored: bool) -> Unscored:
    """Count the texts that begin with an unscored token: those without a context, if the engine cannot score it."""
    texts = 0 if first_token_scored else sum(not context for context in contexts)
    return Unscored(texts, len(contexts))


def without_first_word(text: str) -> tuple[str, str]:
    """The first word of a text, with the marks and spaces before it, and the rest."""
    found = _FIRST.match(text)
    end = found.end() if found else 0
    return text[:end], text[end:]


def differ_first(texts: Sequence[str]) -> tuple[bool, bool]:
    """Whether texts differ in their first word, and whether they differ in nothing else."""
    words, rests = zip(*map(without_first_word, texts), strict=True)
    in_first = len(set(words)) > 1
    return in_first, in_first and len(set(rests)) == 1
