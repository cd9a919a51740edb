"""Build the shipped folder of the writer, and its prompts."""

import hashlib
import json
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calibration.provenance import Origin, Rounded, write_model
from calibration.training import sampling
from calibration.writer.description import PromptGrammar, WriterDescription, read_description
from calibration.writer.grammar import continuation_corpus, continuations_of, prompts_of, sentence_corpus
from calibration.writer.lessons import make_lessons, make_writer_tokenizer
from calibration.writer.train import SETTINGS, measure_deviation, train
from calibration.writer.truth import true_score, true_shares
from holisticbias.output import new_file
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.models.embedded import SHIPPED, WRITER
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.progress import Progress
from holisticbias_eval.prompts.collections import CALIBRATION, SHIPPED_PROMPTS, prompt_table

CARD = Path(__file__).with_name("card.md")
"""The model card, with the fields of the record and of ``card_tables``."""
NOTE = SHIPPED[WRITER].note


class WriterProvenance(Origin):
    """``provenance.json`` of the writer; for the deviations see ``train.WriterDeviation``."""

    prompt_deviation: Rounded
    request_deviation: Rounded
    odds_deviation: Rounded


def rebuild(folder: Path, progress: Progress) -> tuple[WriterProvenance, str]:
    """Train the model and write its folder and, beside it, its prompts; say how near it is to what is planted."""
    description, specifications = read_description(), shipped_specifications(WRITER)
    tokenizer = make_writer_tokenizer(description, specifications)
    lessons = make_lessons(description, specifications, tokenizer)
    model = train(lessons, tokenizer, description.seed, SETTINGS, progress)
    model.generation_config = sampling(tokenizer)
    deviation = measure_deviation(model, lessons, description, specifications)
    made = write_model(
        folder,
        model,
        tokenizer,
        WriterProvenance,
        CARD,
        card_tables(description, specifications),
        note=NOTE,
        corpus_digest=corpus_digest(description, specifications),
        seed=description.seed,
        settings=SETTINGS,
        prompt_deviation=deviation.prompts,
        request_deviation=deviation.requests,
        odds_deviation=deviation.odds,
    )
    with new_file(folder.parent / SHIPPED_PROMPTS.name) as file:
        table = prompts_with_texts(description.prompts)
        pq.write_table(table, file, compression="zstd", use_compliant_nested_type=False)
    off = max(made.prompt_deviation, made.request_deviation)
    return made, f"probabilities are at most {off} from what is planted, log-odds {made.odds_deviation} nats"


def prompts_with_texts(grammar: PromptGrammar) -> pa.Table:
    """All prompts, with texts that stand for people's: each group's are every possible continuation, equally often."""
    asked = prompts_of(grammar)
    # the number of prompts of a group is a multiple of that of continuations
    human = cycle(continuations_of(grammar))
    ids = [f"{CALIBRATION}/{number}" for number in range(1, len(asked) + 1)]
    groups = [prompt.group.group for prompt in asked]
    columns = {
        "prompt_id": ids,
        "domain": [prompt.group.domain for prompt in asked],
        "group": groups,
        "subject": groups,
        "prompt": [prompt.text for prompt in asked],
        "human": [[prompt.text + next(human).text] for prompt in asked],
        "item": ids,
    }
    return prompt_table(columns)


def corpus_digest(description: WriterDescription, specifications: Sequence[Specification]) -> str:
    """SHA-256 of what is learned: prompts, continuations and sentences with their probabilities, and examples."""
    grammar = description.prompts
    texts = [prompt.text for prompt in prompts_of(grammar)]
    examples = [example.model_dump() for example in description.sentences.examples]
    frames = [*description.sentences.frames, *description.sentences.endings]
    digest = hashlib.sha256(json.dumps([texts, examples, frames]).encode())
    corpora = [continuation_corpus(grammar, group) for group in grammar.groups]
    for corpus in (*corpora, sentence_corpus(specifications, description.sentences)):
        digest.update(corpus.digest.encode())
    return digest.hexdigest()


def card_tables(description: WriterDescription, specifications: Sequence[Specification]) -> dict[str, str]:
    """The planted shares and scores, as rows of tables in Markdown, and the odds of a pair."""
    groups = []
    for group in description.prompts.groups:
        shares = true_shares(description.prompts, group)
        tones = " | ".join(f"{shares['sentiment'][tone]:.0%}" for tone in description.prompts.words)
        groups.append(f"| {group.domain} | {group.group} | {shares['gender_polarity']['male']:.0%} | {tones} |")
    scores = "\n".join(
        f"| {specification.id} | {true_score(specification, description.sentences):.2f} "
        f"| {true_score(specification, description.sentences, templates=True):.2f} |"
        for specification in specifications
    )
    return {
        "groups": "\n".join(groups),
        "scores": scores,
        "odds": f"{description.sentences.odds:g}",
        "nats": f"{np.log(description.sentences.odds):.2f}",
    }
