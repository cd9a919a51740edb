"""Files outside of the folder of terms, which are checked as if they were in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from holisticbias.rules import validate
from holisticbias.source.findings import Finding
from holisticbias.source.folder import SourceFile
from holisticbias.source.records import Repository, parse_files

Invoke = Callable[..., tuple[int, str, str]]


def test_files_outside_of_the_folder_are_checked_at_once(
    terms_copy: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They replace their counterparts together; two files of one axis are checked one by one."""
    catalogs: list[object] = []

    def counted(files: Iterable[SourceFile]) -> tuple[Repository, tuple[Finding, ...]]:
        catalogs.append(files)
        return parse_files(files)

    monkeypatch.setattr(validate, "parse_files", counted)
    outside = terms_copy / "elsewhere"
    outside.mkdir()
    for name in ("ability", "age", "cultural"):
        text = (terms_copy / "descriptors" / f"{name}.yaml").read_text("utf-8")
        (outside / f"{name}.yaml").write_text(text, "utf-8")
    assert invoke("validate", *sorted(outside.iterdir())) == (0, "", "No findings.\n")
    assert len(catalogs) == 1
    (outside / "another.yaml").write_text((outside / "age.yaml").read_text("utf-8"), "utf-8")
    assert invoke("validate", *sorted(outside.iterdir()))[0] == 0
    assert len(catalogs) == 3
