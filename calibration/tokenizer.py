"""Tokenizers of the calibration models: byte-level BPE in which every word and term of the release is one token."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from holisticbias.release.release import Release

BOUNDARY = "<|endoftext|>"
PADDING = "<|pad|>"
CONTEXT = 64
MERGES = 300
_BLANK = "Ġ"  # in the alphabet of byte-level BPE
# words with their hyphens and apostrophes, then anything else
_OTHERWISE = r" ?[\p{L}\p{N}]+(?:[-'][\p{L}\p{N}]+)*| ?[^\s\p{L}\p{N}]+|\s+"


def make_tokenizer(release: Release) -> PreTrainedTokenizerFast:
    """The scoring model's tokenizer: each word and each term of a release is one token.

    Every term is one token, whatever its length, so that terms differ in
    perplexity only by their frequency. Any text can be encoded and decoded without loss.
    """
    terms = release_terms(release)
    return whole_word_tokenizer(terms, sample_texts(release, terms), CONTEXT)


def whole_word_tokenizer(
    terms: Iterable[str],
    texts: Iterable[str],
    context: int,
    control: Sequence[str] = (),
    pieces: Mapping[str, Sequence[str]] | None = None,
) -> PreTrainedTokenizerFast:
    """Byte-level BPE with merges learned from the words of texts, where each word and each term is one token.

    ``context`` is the model's longest text in tokens; ``control`` are further control tokens. ``pieces`` are the words
    after a blank that are several tokens, each with the texts of its tokens.
    """
    split = _split(terms)
    cut = {f" {word}": parts for word, parts in (pieces or {}).items()}
    in_bytes = {_as_bytes(word): [_as_bytes(part) for part in parts] for word, parts in cut.items()}
    words = sorted({piece for text in texts for piece, _ in split.pre_tokenize_str(text)} - in_bytes.keys())
    tokenizer = Tokenizer(_whole_words(words, [BOUNDARY, PADDING, *control], in_bytes))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOUNDARY,
        eos_token=BOUNDARY,
        pad_token=PADDING,
        **({"extra_special_tokens": list(control)} if control else {}),
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )


def release_terms(release: Release) -> list[str]:
    """The descriptors of a release and their plurals, sorted."""
    table = release.tables["descriptors"]
    return sorted({term for name in ("descriptor", "plural") for term in table[name].to_pylist() if term})


def sample_texts(release: Release, terms: Iterable[str]) -> Iterable[str]:
    """Yield texts that contain every word, number and mark of the release as in a sentence."""
    nouns, templates = release.tables["nouns"], release.tables["templates"]
    for word in ("a", "an", *nouns["noun"].to_pylist(), *nouns["plural_noun"].to_pylist(), *terms):
        yield f" {word}"
    for template in templates["template"].to_pylist():
        yield template.format(noun_phrase="a", plural_noun_phrase="a")


def _split(terms: Iterable[str]) -> pre_tokenizers.PreTokenizer:
    """Split a text into terms of several words, words, and marks."""
    longest_first = sorted((term for term in terms if " " in term), key=lambda term: (-len(term), term))
    phrases = "|".join(map(re.escape, longest_first))
    # "friends who are visually impaired women" has a term of body type, not the term of ability with the same beginning
    pattern = Regex(f"(?<! friends) (?:{phrases})(?![\\p{{L}}\\p{{N}}'-])|{_OTHERWISE}")
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(pattern, behavior="isolated"), as_bytes])


def _as_bytes(text: str) -> str:
    """A text in the alphabet of byte-level BPE."""
    return "".join(piece for piece, _ in pre_tokenizers.ByteLevel(False, False).pre_tokenize_str(text))


def _whole_words(words: list[str], control: list[str], pieces: Mapping[str, Sequence[str]]) -> models.BPE:
    """BPE over bytes whose vocabulary also holds each word, which is matched before any merge.

    If there are ``pieces``, their letters are merged from left to right, and there are no other merges.
    """
    if pieces:
        return _merged_pieces(words, control, pieces)
    learned = Tokenizer(models.BPE())
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learned.train_from_iterator(
        words,
        trainers.BpeTrainer(
            vocab_size=len(control) + len(alphabet) + MERGES,
            special_tokens=control,
            initial_alphabet=alphabet,
            show_progress=False,
        ),
    )
    model = json.loads(learned.to_str())["model"]
    vocabulary: dict[str, int] = model["vocab"]
    for word in words:
        vocabulary.setdefault(word, len(vocabulary))
    return models.BPE(vocab=vocabulary, merges=[tuple(pair) for pair in model["merges"]], ignore_merges=True)


def _merged_pieces(words: list[str], control: list[str], pieces: Mapping[str, Sequence[str]]) -> models.BPE:
    """BPE over bytes whose merges make the pieces of words, those at the start of a word first."""
    ordered = sorted({part for parts in pieces.values() for part in parts}, key=lambda part: (part[0] != _BLANK, part))
    vocabulary = {text: i for i, text in enumerate([*control, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    merges: dict[tuple[str, str], None] = {}
    for part in ordered:
        for end in range(1, len(part)):
            merges[part[:end], part[end]] = None
            vocabulary.setdefault(part[: end + 1], len(vocabulary))
    for word in words:
        vocabulary.setdefault(word, len(vocabulary))
    return models.BPE(vocab=vocabulary, merges=list(merges), ignore_merges=True)
