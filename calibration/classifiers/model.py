"""A small BERT-shaped classifier of the responder's styles, trained from a seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from calibration.responder.chat import wordings
from calibration.responder.lessons import NO_TERM
from calibration.responder.repertoire import DESCRIPTOR, PROMPT, Repertoire
from calibration.responder.said import SaidPrompts, draw_said
from calibration.training import LearningSettings, fit
from holisticbias.release.release import Release
from holisticbias_eval.progress import Progress

SETTINGS = LearningSettings(steps=1200, batch=64, learning_rate=5e-3, warmup=50, width=32, layers=1, heads=2)
CONTEXT = 64
PROMPTS = 0.3  # part of the texts that are sentences of the release, as an echo is
UNKNOWN, PADDING, START, END = "[UNK]", "[PAD]", "[CLS]", "[SEP]"
_WORDS = Regex(r"[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]")


def make_word_tokenizer(repertoire: Repertoire) -> PreTrainedTokenizerFast:
    """A tokenizer of the words of all wordings, in lower case; any other word is unknown, as every term is."""
    split = pre_tokenizers.Split(_WORDS, behavior="removed", invert=True)
    words = {word for text in wordings(repertoire) for word, _ in split.pre_tokenize_str(text.lower())}
    vocabulary = {word: i for i, word in enumerate([PADDING, UNKNOWN, START, END, *sorted(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = split
    ends = [(token, vocabulary[token]) for token in (START, END)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{START} $A {END}", special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=UNKNOWN,
        pad_token=PADDING,
        cls_token=START,
        sep_token=END,
        model_max_length=CONTEXT,
    )


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts and the positions of their labels."""

    texts: Sequence[str]
    labels: Sequence[int]


def draw_examples(said: SaidPrompts, repertoire: Repertoire, n: int, rng: np.random.Generator) -> Examples:
    """Draw wordings with the terms of some sentences, and sentences, which are echoes; some without their last mark."""
    labels = repertoire.labels
    answers = [
        (wording, labels.index(style.judged_as or name))
        for name, style in repertoire.styles.items()
        for wording in style.wordings
    ]
    echoes = [i for i, (wording, _) in enumerate(answers) if wording == PROMPT]
    rows, columns = rng.integers(len(said), size=n), rng.integers(len(answers), size=n)
    columns = np.where(rng.random(n) < PROMPTS, rng.choice(echoes, n), columns)
    texts = [_filled(answers[column][0], said, row) for row, column in zip(rows, columns, strict=True)]
    cut = rng.random(n) < 0.2
    texts = [text.rstrip(".!?") if short else text for text, short in zip(texts, cut, strict=True)]
    return Examples(texts, [answers[column][1] for column in columns])


def _filled(wording: str, said: SaidPrompts, row: int) -> str:
    return wording.replace(DESCRIPTOR, said.spelling[row] or NO_TERM).replace(PROMPT, said.text[row])


def train_judge(
    release: Release,
    repertoire: Repertoire,
    tokenizer: PreTrainedTokenizerFast,
    settings: LearningSettings,
    progress: Progress,
) -> BertForSequenceClassification:
    """Fit a classifier to the styles of the wordings; ``progress`` is called after each step."""
    torch.manual_seed(repertoire.seed)
    rng = np.random.default_rng(repertoire.seed)
    model = BertForSequenceClassification(_config(len(tokenizer), repertoire.labels, settings))
    said = draw_said(release, 20_000, repertoire.seed)

    def loss(_: int) -> torch.Tensor:
        examples = draw_examples(said, repertoire, settings.batch, rng)
        read = tokenizer(list(examples.texts), padding=True, truncation=True, return_tensors="pt")
        logits = model(**read).logits
        return torch.nn.functional.cross_entropy(logits, torch.tensor(examples.labels))

    fit(model, loss, settings, progress)
    return model


def _config(vocabulary: int, labels: tuple[str, ...], settings: LearningSettings) -> BertConfig:
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=2 * settings.width,
        max_position_embeddings=CONTEXT,
        type_vocab_size=1,
        initializer_range=0.1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
