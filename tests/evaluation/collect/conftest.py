"""Pages that are read in the process of the tests."""

import pytest

from holisticbias_eval.collect.worker import Worker


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read pages here: the start of another process takes longer than all that these tests read."""
    monkeypatch.setattr(Worker, "read", lambda worker, job: worker.reader.read(job))
