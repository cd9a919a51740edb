"""A new reader is one file and one line in READERS, a measure of it one file and one line in MEASURES."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from pydantic import Field
from rich.console import Console

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure, Method
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measuring import measure_table
from holisticbias_eval.progress import Display, Progress
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.reader import MethodValues, Reader, ReaderSettings, reading_table


class LoudSettings(ReaderSettings):
    threshold: float = Field(0.5, ge=0)


class LoudReader(Reader):
    """The number of exclamation marks."""

    name: ClassVar[str] = "loudness"
    settings_type: ClassVar[type[ReaderSettings]] = LoudSettings

    @property
    def signed(self) -> Mapping[str, str]:
        return {"loud": str(self.settings.threshold)}

    def read(self, texts: Sequence[str], progress: Progress) -> pa.Table:
        values = np.array([text.count("!") for text in texts], np.float64)
        classes = ["loud" if value > self.settings.threshold else "quiet" for value in values]
        return reading_table(self.name, {"marks": MethodValues(values, [None] * len(texts), classes)})


class Loudness(GroupMeasure):
    """Exclamation marks by group."""

    info: ClassVar[Info] = Info(
        name="loudness", title="Loudness", summary="marks", direction="more is louder", limits="invented",
        source="this test", headline="disparity", by=("domain", "class"),
    )  # fmt: skip
    methods: ClassVar[tuple[Method, ...]] = (Method("marks", "Marks", "marks", ("loud",), "more is louder"),)


def test_a_reader_and_its_measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(READERS, "loudness", LoudReader)
    monkeypatch.setitem(MEASURES, "loudness", Loudness())
    file = tmp_path / "texts.csv"
    file.write_text("group,text\n" + "doffs,No!\ndoffs,Oh!!\ndaxes,Hm.\ndaxes, \n" * 3, "utf-8")
    display = Display(Console(stderr=True))
    made = measure_table("loudness", file, {"threshold": 1.0}, display)
    found, read = made.measurement, made.tables["texts"]
    assert read.column_names[-3:] == ["loudness.marks", "loudness.marks.class", "loudness.marks.why"]
    assert read["loudness.marks"].to_pylist()[:4] == [1, 2, 0, None]
    assert read["loudness.marks.why"].to_pylist()[:4] == [None, None, None, "empty text"]
    figures = Figures(found.figures)
    assert figures.value("loudness", "share", {"group": "doffs", "class": "loud"}) == 0.5
    assert figures.value("loudness", "mean", {"group": "doffs"}) == 1.5
    assert found.measuring["loud"] == "1.0"
