"""Contexts: the text that a model reads before each sentence, the same for all or a line drawn from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.texts import Repeated
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
        return [lines[_number(f"{self.seed} {text}") % len(lines)] for text in sentences]


def read_context(text: str | None, file: Path | None, seed: int | None) -> Context:
    """The contexts of a run, from its options; raises ``EvaluationError`` if these conflict or the file is unusable."""
    if text is not None and file is not None:
        raise EvaluationError("--context and --context-file exclude each other: leave one out")
    if seed is not None and file is None:
        raise EvaluationError("--context-seed needs --context-file, the file to draw from")
    if file is None:
        return Context((text,), settings={"context": text}) if text else Context()
    content = read_content(file)
    lines = tuple(line.strip() for line in content_lines(file, content) if line.strip())
    if not lines:
        raise EvaluationError(f"{file} has no line to draw a context from: write one context per line")
    seed = seed or 0
    digest = hashlib.sha256(content).hexdigest()
    drawn = f"a line of {file.name} for each sentence, by seed {seed}; {len(lines):,} lines, SHA-256 {digest}"
    return Context(lines, seed, {"context": drawn})


def _apart(line: str) -> str:
    return f"{line} " if line and not line[-1].isspace() else line


def _number(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])
