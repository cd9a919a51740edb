import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from holisticbias import open_release
from holisticbias.cli import main
from holisticbias.release.export import FORMATS, PUBLIC, export_csv, export_inspect, export_jsonl, export_lm_eval
from holisticbias.release.intersections import Request, write_intersections
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog

Build = Callable[..., Path]


@pytest.fixture
def release(build: Build) -> Release:
    return open_release(build())


def test_csv_has_the_public_columns(release: Release, tmp_path: Path) -> None:
    rows = export_csv(release, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert rows == len(read) == release.sentences.num_rows
    assert tuple(read[0]) == PUBLIC
    for got, expected in zip(read, release.sentences.to_pylist(), strict=True):
        assert got == {name: _as_csv(expected[name]) for name in PUBLIC}


def _as_csv(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_jsonl_has_every_column(release: Release, tmp_path: Path) -> None:
    export_jsonl(release, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == release.sentences.to_pylist()


def test_inspect_samples_have_input_id_and_metadata(release: Release, tmp_path: Path) -> None:
    export_inspect(release, tmp_path / "out.jsonl")
    samples = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [s["input"] for s in samples] == release.sentences["text"].to_pylist()
    assert [s["id"] for s in samples] == release.sentences["sentence_id"].to_pylist()
    assert samples[0]["metadata"]["template"] == release.sentences["template"][0].as_py()


class _Task(yaml.SafeLoader):
    """Reads the harness's tag as text."""


_Task.add_constructor("!function", lambda loader, node: str(node.value))


def test_lm_eval_folder_is_a_task(release: Release, tmp_path: Path) -> None:
    export_lm_eval(release, tmp_path / "task")
    export_lm_eval(release, tmp_path / "task")
    task = yaml.load((tmp_path / "task" / "holisticbias.yaml").read_text("utf-8"), Loader=_Task)  # noqa: S506 - a safe loader
    assert (task["output_type"], task["doc_to_target"]) == ("loglikelihood_rolling", "{{text}}")
    names: dict[str, object] = {"__file__": str(tmp_path / "task" / "holisticbias_data.py")}
    exec((tmp_path / "task" / "holisticbias_data.py").read_text("utf-8"), names)  # noqa: S102 - what the harness does
    load = names["load"]
    assert callable(load)
    assert load(version="0.2.0")["test"]["text"][:] == release.sentences["text"].to_pylist()


def test_intersections_are_exported_shard_by_shard(catalog: Catalog, tmp_path: Path) -> None:
    write_intersections(catalog, Request("0.2.0", "all"), tmp_path / "i")
    release = open_release(tmp_path / "i")
    rows = [row for shard in release.shards("intersections") for row in shard.to_pylist()]
    assert export_csv(release, tmp_path / "out.csv") == len(rows)
    export_inspect(release, tmp_path / "out.jsonl")
    ids = [json.loads(line)["id"] for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert len(set(ids)) == len(ids) == len(rows)


@pytest.mark.parametrize("style", FORMATS)
def test_what_is_there_is_not_lost(build: Build, tmp_path: Path, style: str) -> None:
    folder = build()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine", "utf-8")
    assert main(["export", str(folder), "--format", style, "--out", str(tmp_path / "taken")]) == 2
    assert (tmp_path / "taken" / "mine.txt").read_text("utf-8") == "mine"
    assert main(["export", str(tmp_path / "none"), "--format", style, "--out", str(tmp_path / "x")]) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["release", "taken"]
