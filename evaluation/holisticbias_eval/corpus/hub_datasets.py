"""Datasets of the Hugging Face Hub, or local folders in a form that ``datasets`` reads, as documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holisticbias_eval.corpus.documents import Document
from holisticbias_eval.corpus.reading import Reading
from holisticbias_eval.errors import CorpusError

HUB = "hub:"


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A dataset of the Hub, or a local folder in a form that ``datasets`` reads: its rows are streamed."""

    name: str
    config: str | None
    split: str | None

    def documents(self, reading: Reading) -> Iterator[Document]:
        """Yield the documents that may mention a group.

        Raises ``CorpusError`` if the dataset cannot be opened; if it breaks off, what was read is kept.
        """
        import pyarrow as pa
        from datasets.exceptions import DatasetsError

        number = 0
        try:
            for place, row in self._rows():
                number += 1
                reading.documents += 1
                reading.read(0)  # counts the row for the progress
                document = reading.take_row(row, place)
                if document is not None and reading.may_mention(document.text.encode()):
                    yield document
        except (OSError, ValueError, RuntimeError, LookupError, TypeError, DatasetsError, pa.ArrowException) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0][:200]
            if not number:
                raise CorpusError(f"{HUB}{self.name} cannot be read as a dataset: {why}") from error
            reading.damaged.append(f"{HUB}{self.name}: broke off after {number:,} rows ({why}); these are kept")

    def _rows(self) -> Iterator[tuple[str, object]]:
        from datasets import IterableDatasetDict, disable_progress_bars, load_dataset

        disable_progress_bars()
        loaded = load_dataset(self.name, self.config, split=self.split, streaming=True)
        parts = loaded if isinstance(loaded, IterableDatasetDict) else {self.split: loaded}
        for split, rows in parts.items():
            where = ":".join([f"{HUB}{self.name}", *([self.config] if self.config else []), str(split)])
            for number, row in enumerate(rows, 1):
                yield f"{where}:{number}", row
