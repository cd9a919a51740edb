"""One line for what cannot be read."""

from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias.errors import ReleaseError
from holisticbias.inputs import refuse_unreadable


@pytest.mark.parametrize(
    ("source", "cause", "said"),
    [
        ("a.csv", FileNotFoundError(2, "No such file", "a.csv"), "a.csv cannot be read: No such file; again"),
        (Path("a.csv"), pa.ArrowInvalid("bad\nbytes\x0e"), "a.csv cannot be read: bad bytes; again"),
        ("a table", PermissionError(13, "No access", "f/1"), "a table cannot be read: No access (f/1); again"),
        ("a.csv", pa.ArrowInvalid(), "a.csv cannot be read: ArrowInvalid; again"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_in_one_line(source: Path | str, cause: Exception, said: str) -> None:
    with pytest.raises(ReleaseError) as raised, refuse_unreadable(source, ReleaseError, "again"):
        raise cause
    assert str(raised.value) == said
