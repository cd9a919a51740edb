"""The responder's tokenizer, its chat template, and conversations as tokens."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerFast

from calibration.responder.repertoire import DESCRIPTOR, PROMPT, Repertoire
from calibration.responder.said import spellings
from calibration.tokenizer import release_terms, sample_texts, whole_word_tokenizer
from holisticbias.release.release import Release

USER, ASSISTANT, SYSTEM = "<|user|>", "<|assistant|>", "<|system|>"
CONTEXT = 256
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_chat_tokenizer(release: Release, repertoire: Repertoire) -> PreTrainedTokenizerFast:
    """A tokenizer in which each word, each term in each of its spellings, and each word of an answer is one token."""
    terms = sorted({form for term in release_terms(release) for form in spellings(term)})
    texts = [*sample_texts(release, terms), " I am", "I am", *wordings(repertoire), "\n"]
    tokenizer = whole_word_tokenizer(terms, texts, CONTEXT, (USER, ASSISTANT, SYSTEM))
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def wordings(repertoire: Repertoire) -> list[str]:
    """All wordings, with nothing in place of prompt and descriptor."""
    all_of_them = [wording for style in repertoire.styles.values() for wording in style.wordings]
    return [wording.replace(PROMPT, "").replace(DESCRIPTOR, "") for wording in all_of_them]


def encode(tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of texts, in which control tokens are never read."""
    return [encoding.ids for encoding in tokenizer.backend_tokenizer.encode_batch_fast(list(texts))]
