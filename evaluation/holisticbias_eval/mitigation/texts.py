"""Texts to train on: sentences of a corpus, rewritten sentences, and their counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.method import GroupTask

TrainingTexts = tuple[pa.Table, Mapping[str, int]]
"""Texts to train on, and their counts: ``corpus``, ``left_out``, and of what a method has added."""


@dataclass(frozen=True, slots=True)
class NotRewritten:
    """The reason for which a sentence has no form."""

    reason: str


def corpus_sentences(examples: pa.Table, task: GroupTask) -> list[str]:
    """The sentences of a corpus's training part that mention no group outside the task.

    Raises ``MitigationError`` if no sentence mentions a group that takes part.
    """
    specification = task.specification
    finder = target_finder(specification)
    texts: list[str] = examples["sentence"].to_pylist()
    mentioned = [(text, {mention.of.group for mention in finder.find(text)}) for text in texts]
    kept = [(text, groups) for text, groups in mentioned if groups <= set(task.groups)]
    if not any(groups for _, groups in kept):
        raise MitigationError(
            f"no sentence of the corpus mentions a group of {specification.id} that takes part "
            f"({', '.join(task.groups)}): retrieve sentences for this specification"
        )
    return [text for text, _ in kept]


def corpus_texts(
    examples: pa.Table, sentences: Sequence[str], texts: Sequence[str] | None = None, **more: int
) -> TrainingTexts:
    """Texts to train on, by default the sentences of a corpus, with the counts of the sentences and ``more``."""
    counts = {"corpus": len(sentences), "left_out": len(examples) - len(sentences), **more}
    return pa.table({"text": pa.array(sentences if texts is None else texts, pa.string())}), counts


def with_rewritten(
    examples: pa.Table, task: GroupTask, rewritten: Callable[[str], Iterable[str | NotRewritten]], needed: str
) -> TrainingTexts:
    """Each sentence of the corpus, followed by its rewritten forms.

    Forms that cannot be written are counted in ``not_rewritten``, and by reason in ``not_rewritten: REASON``. Raises
    ``MitigationError``, saying what is ``needed``, if no sentence can be rewritten.
    """
    sentences = corpus_sentences(examples, task)
    texts: list[str] = []
    missing: Counter[str] = Counter()
    for sentence in sentences:
        forms = list(rewritten(sentence))
        missing.update(form.reason for form in forms if isinstance(form, NotRewritten))
        texts += [sentence, *(form for form in forms if isinstance(form, str))]
    added = len(texts) - len(sentences)
    if not added:
        raise MitigationError(f"no sentence of the corpus can be rewritten for {task.specification.id}: {needed}")
    reasons = {f"not_rewritten: {reason}": count for reason, count in missing.most_common()}
    return corpus_texts(examples, sentences, texts, added=added, not_rewritten=missing.total(), **reasons)


def contexts_of(table: pa.Table) -> list[str | None]:
    """The text before each text, which is read and not learned; null without one."""
    contexts: list[str | None] = [None] * table.num_rows
    return table["context"].to_pylist() if "context" in table.column_names else contexts
