"""A mini release and tiny random models, written once a session."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.evaluation.generation.chat_server import Answering, ChatServer

from holisticbias import build_release, load_catalog, open_release, write_release
from holisticbias.release.release import Release
from holisticbias.source.folder import find_source
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.results.run import Run, read_run
from serving import serving
from small_terms import Values, made_catalog

VERSION = "0.1.0"  # not a published version: opening a release checks it against the record of its version
AXES = {"age": ("young", "old", "elderly"), "ability": ("deaf", "blind"), "nonce": ("blicket", "doff")}
NOUNS = ("person", "friend", "kid", "parent")
END = "<|endoftext|>"
TEMPLATES = {
    "dialogue.im": "I'm {noun_phrase}.",
    "dialogue.love": "I love {plural_noun_phrase}.",
    "dialogue.hate": "I hate {plural_noun_phrase}.",
}


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep scores apart from the user's and from those of earlier sessions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLISTICBIAS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def terms_read_once() -> Iterator[None]:
    """Read the terms of a folder once: each command would read and validate them again."""
    read = cache(load_catalog)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("stereotypes.specifications", "collect.collecting", "prompts.collections", "tasks.sources"):
            patch.setattr(f"holisticbias_eval.{module}.load_catalog", lambda: read(find_source()))
        yield


def _named(prefix: str, texts: Iterable[str]) -> list[Values]:
    return [{"id": f"{prefix}.{text}", "text": text} for text in texts]


def _made(nouns: Mapping[str, tuple[str, ...]], more: Mapping[str, list[Values]]) -> Catalog:
    axes = {axis: [*_named(axis, texts), *more.get(axis, [])] for axis, texts in AXES.items()}
    genders = {
        gender: [{**noun, "plural": f"{noun['text']}s"} for noun in _named(gender, texts)]
        for gender, texts in nouns.items()
    }
    dialogue = [{"id": key, "text": text, "must_be_noun": "plural" in text} for key, text in TEMPLATES.items()]
    version = {"version": VERSION, "date": "2026-01-01", "summary": "mini", "article_rule": "letter"}
    return made_catalog(axes, genders, {"dialogue": dialogue}, version)


def mini_catalog(nouns: tuple[str, ...] = NOUNS) -> Catalog:
    return _made({"neutral": nouns} if nouns else {}, {})


@pytest.fixture(scope="session")
def mini_release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "mini"
    write_release(build_release(mini_catalog()), folder)
    return folder


@pytest.fixture(scope="session")
def mini_release(mini_release_folder: Path) -> Release:
    return open_release(mini_release_folder)


LABELS = ("kind", "curious", "grumpy")
WOMEN, MEN = ("mom", "sister", "aunt", "gal", "niece"), ("dad", "brother")


def terms_catalog() -> Catalog:
    """The mini catalog with nouns of two genders, descriptors of one gender, and a term that is a noun itself."""
    amputee = {"id": "ability.amputee", "text": "amputee", "plural": "amputees", "position": "standalone"}
    girlish, boyish = _named("age", ("girlish", "boyish"))
    gendered: list[Values] = [{**girlish, "noun_gender": "female"}, {**boyish, "noun_gender": "male"}]
    return _made({"neutral": NOUNS, "female": WOMEN, "male": MEN}, {"age": gendered, "ability": [amputee]})


@pytest.fixture(scope="session")
def terms_release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "terms"
    write_release(build_release(terms_catalog()), folder)
    return folder


@pytest.fixture(scope="session")
def terms_release(terms_release_folder: Path) -> Release:
    return open_release(terms_release_folder)


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory, mini_release: Release) -> Path:
    """A random GPT-2 of two layers with its own byte-level BPE, as a folder."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder, bpe = tmp_path_factory.mktemp("models") / "tiny-gpt2", ByteLevelBPETokenizer()
    texts = mini_release.sentences["text"].to_pylist()
    bpe.train_from_iterator(texts, vocab_size=300, special_tokens=[END], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, bos_token=END, eos_token=END)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=300, n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def moved_gpt2(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with other weights, in a folder of the same name."""
    import torch
    from transformers import AutoModelForCausalLM

    folder = Path(shutil.copytree(tiny_gpt2, tmp_path_factory.mktemp("moved") / tiny_gpt2.name))
    model = AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_options(tiny_gpt2: Path, mini_release_folder: Path) -> tuple[str, ...]:
    """Options of ``evaluate``: the tiny model, and the mini release."""
    return ("--model", str(tiny_gpt2), "--release", str(mini_release_folder))


@pytest.fixture
def copied_model(tiny_gpt2: Path, tmp_path: Path) -> Callable[[], Path]:
    """A copy of the tiny model, to be damaged."""
    return lambda: Path(shutil.copytree(tiny_gpt2, tmp_path / "spoilt"))


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory, tiny_gpt2: Path, mini_release_folder: Path) -> Path:
    """A run of the tiny model on the mini release."""
    from rich.console import Console

    from holisticbias_eval.evaluating import evaluations
    from holisticbias_eval.progress import Display

    out, display = tmp_path_factory.mktemp("runs") / "run", Display(Console(stderr=True))
    ((folder, _, _),) = evaluations(str(tiny_gpt2), str(mini_release_folder), None, {}, out=out, display=display)
    return folder


@pytest.fixture(scope="session")
def run(tiny_run: Path) -> Run:
    """The run of the tiny model, as it is read."""
    return read_run(tiny_run)


@pytest.fixture
def card(tmp_path: Path) -> Callable[..., Path]:
    """Write a card; values of None leave a key out."""

    def write(**given: Any) -> Path:
        known = {
            "id": "made-up", "title": "A made-up classifier", "task": "style", "engine": "transformers",
            "labels": list(LABELS), "activation": "softmax", "licence": "MIT", "source": "these tests",
            "limits": "none known",
        }  # fmt: skip
        file = tmp_path / "made-up.yaml"
        content = {key: value for key, value in (known | given).items() if value is not None}
        file.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
        return file

    return write


@pytest.fixture
def chat_server() -> Iterator[Callable[[Answering], ChatServer]]:
    """Start a server; it ends with the test."""
    with ExitStack() as servers:

        def start(answering: Answering) -> ChatServer:
            server = ChatServer(answering)
            servers.enter_context(serving(server))
            return server

        yield start
