"""Find the sources of documents that a user names: files, folders, and datasets of the Hugging Face Hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from holisticbias_eval.corpus.hub_datasets import HUB, HubDataset
from holisticbias_eval.corpus.text_files import JSON, TEXT, TextFile
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.tables.content import COMPRESSED

_TABLES = (".parquet", ".csv", ".tsv", ".arrow", ".feather")


def find_sources(names: Sequence[str], out: Path) -> list[TextFile | HubDataset]:
    """The files and datasets of names: files, folders of files, and ``hub:OWNER/NAME[:CONFIG][:SPLIT]``.

    ``out`` is not a source. Raises ``CorpusError``.
    """
    found: list[TextFile | HubDataset] = []
    for name in names:
        if name.startswith(HUB):
            found.append(_dataset(name))
        else:
            found += _files(Path(name), out)
    return _with_unique_names(found)


def size(sources: Iterable[TextFile | HubDataset]) -> int:
    """The bytes of all files."""
    return sum(one.path.stat().st_size for one in sources if isinstance(one, TextFile))


def _dataset(name: str) -> HubDataset:
    repository, *more = name.removeprefix(HUB).split(":")
    if not repository or len(more) > 2:
        raise CorpusError(f"{name[:200]!r} does not name a dataset: write hub:OWNER/NAME[:CONFIG][:SPLIT]")
    config, split = [part or None for part in (*more, "", "")[:2]]
    return HubDataset(repository, config, split)


def _files(path: Path, out: Path) -> Iterator[TextFile]:
    try:
        if path.is_file():
            paths = [path]
        elif path.is_dir():
            paths = [one for one in sorted(path.rglob("*")) if one.is_file() and _is_known(one, path)]
            paths = [one for one in paths if one.resolve() != out.resolve()]
        else:
            raise CorpusError(f"{path} does not exist: name a file, a folder, or hub:OWNER/NAME")
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error
    if not paths:
        known = " ".join((*JSON, *TEXT, *COMPRESSED))
        raise CorpusError(f"{path} has no files to read, whose names end in {known}")
    for one in paths:
        if one.suffix.lower() in _TABLES:
            raise CorpusError(f"{one} is a table: put it into a folder and name that hub:FOLDER")
        yield TextFile(one, one.name if one == path else one.relative_to(path).as_posix())


def _is_known(path: Path, folder: Path) -> bool:
    if any(part.startswith(".") for part in path.relative_to(folder).parts):
        return False
    return path.suffix.lower() in (*JSON, *TEXT, *COMPRESSED)


def _with_unique_names(sources: Sequence[TextFile | HubDataset]) -> list[TextFile | HubDataset]:
    """The sources, each once; files of equal names are named with their folders."""
    names = Counter(one.name for one in dict.fromkeys(sources))
    return [
        TextFile(one.path, PurePath(one.path).as_posix()) if isinstance(one, TextFile) and names[one.name] > 1 else one
        for one in dict.fromkeys(sources)
    ]
