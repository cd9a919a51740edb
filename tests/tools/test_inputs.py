"""One line for what cannot be read."""

from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias.errors import ReleaseError
from holisticbias.inputs import refuse_unreadable


def test_what_cannot_be_read_is_named_in_one_line() -> None:
    def said(source: Path | str, cause: Exception) -> str:
        with pytest.raises(ReleaseError) as raised, refuse_unreadable(source, ReleaseError, "again"):
            raise cause
        return str(raised.value)

    assert said("a.csv", FileNotFoundError(2, "No such file", "a.csv")) == "a.csv cannot be read: No such file; again"
    assert said(Path("a.csv"), pa.ArrowInvalid("bad\nbytes\x0e")) == "a.csv cannot be read: bad bytes; again"
    assert said("a table", PermissionError(13, "No", "f/1")) == "a table cannot be read: No (f/1); again"
    assert said("a.csv", pa.ArrowInvalid()) == "a.csv cannot be read: ArrowInvalid; again"
