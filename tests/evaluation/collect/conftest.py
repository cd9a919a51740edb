"""Pages that are read in the process of the tests."""

import pytest

from holisticbias_eval.collect.page_sentences import PageJob, PageSentences
from holisticbias_eval.collect.worker import Worker


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read pages here: the start of another process takes longer than all that these tests read."""

    def read(worker: Worker, job: PageJob) -> PageSentences:
        worker.reader.start()
        return worker.reader.read(job)

    monkeypatch.setattr(Worker, "read", read)
