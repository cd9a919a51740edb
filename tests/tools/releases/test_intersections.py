import itertools
import json
import shutil
from collections import Counter
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.releases.conftest import TERMS

from folders import contents
from holisticbias import build_release, open_release
from holisticbias.cli import main
from holisticbias.compile.pair_tables import PairCompiler, cut_runs, draw, even_quotas
from holisticbias.compile.pairs import around, find_pairs
from holisticbias.errors import HolisticBiasError, OutputError, ReleaseError
from holisticbias.release import intersections
from holisticbias.release.intersections import Request, count_intersections, write_intersections
from holisticbias.release.parquet import write_shard
from holisticbias.release.verify import verify_release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor
from holisticbias.terms.grammar import with_article
from processes import python
from small_terms import with_layout

MADE = yaml.safe_load((TERMS.parent / "phrases.yaml").read_text("utf-8"))
COMMON = {"sources": ["s"], "since": "0.1.0"}


def term(name: str) -> Descriptor:
    return Descriptor.model_validate({**COMMON, "id": f"x.{name}", **MADE["terms"][name]})


@pytest.mark.parametrize(("first", "second", "noun", "singular", "plural"), MADE["phrases"])
def test_two_terms_stand_as_english_has_them(
    first: str, second: str, noun: str | None, singular: str, plural: str
) -> None:
    form = around(term(first), term(second), "sound")
    name = with_article(noun, "sound", None) if noun is not None and form.article_is_the_nouns else noun or ""
    assert form.before + name + form.after == singular
    assert form.plural_before + MADE["nouns"].get(noun, "") + form.plural_after == plural


def slow_sentences(catalog: Catalog, version: str, axes: list[tuple[str, str]]) -> Counter[tuple[str, str, str]]:
    """Count every sentence by text and the two ids, compiled one at a time."""
    held, rule = catalog.at(version), catalog.release(version).article_rule
    assert catalog.intersections is not None
    by_axis = {a.axis: a.descriptors for a in held.axes}
    found: Counter[tuple[str, str, str]] = Counter()
    rank = catalog.intersections.rank
    for axes_of_pair in axes:
        for pair in itertools.product(*(by_axis[axis] for axis in axes_of_pair)):
            if slow_excluded(catalog, axes_of_pair[0], pair[0], axes_of_pair[1], pair[1]):
                continue
            placed = sorted(zip(axes_of_pair, pair, strict=True), key=lambda p: rank(p[0], p[1].bucket, p[1].id))
            first, second = (d for _, d in placed)
            form = around(first, second, rule)
            fillers = []
            alone = [d for d in (first, second) if d.position == "standalone"]
            genders = {d.noun_gender for d in (first, second)} - {"any"}
            denied = {*first.not_with, *second.not_with}
            if len(alone) == 1 and len(genders) < 2 and denied.isdisjoint({alone[0].noun_gender}):
                fillers.append((form.before + form.after, form.plural_before + form.plural_after))
            for gender in held.genders if not alone else ():
                for noun in gender.nouns:
                    if first.goes_with(gender.gender, noun) and second.goes_with(gender.gender, noun):
                        own = with_article(noun.text, rule, noun.article) if form.article_is_the_nouns else noun.text
                        plural = form.plural_before + noun.plural + form.plural_after
                        fillers.append((form.before + own + form.after, plural))
            for (singular, plural), family in itertools.product(fillers, held.families):
                for template in family.templates:
                    text = template.text.format(noun_phrase=singular, plural_noun_phrase=plural)
                    found[text, first.id, second.id] += 1
    return found


def slow_excluded(catalog: Catalog, axis: str, first: Descriptor, other: str, second: Descriptor) -> bool:
    assert catalog.intersections is not None
    names = ({first.id, f"{axis}/{first.bucket}"}, {second.id, f"{other}/{second.bucket}"})
    return first.text.casefold() == second.text.casefold() or any(
        names[i] & set(e.these) and names[1 - i] & set(e.those)
        for e in catalog.intersections.exclusions
        for i in (0, 1)
    )


def fast_sentences(tables: list[pa.Table]) -> Counter[tuple[str, str, str]]:
    columns = ("text", "descriptor_id_1", "descriptor_id_2")
    return Counter(row for t in tables for row in zip(*(t[c].to_pylist() for c in columns), strict=True))


ALL = [("characteristics", "ability"), ("characteristics", "race_ethnicity"), ("ability", "race_ethnicity")]


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
@pytest.mark.parametrize(("text", "axes"), [("all", ALL), ("race_ethnicity x ability", ALL[2:])])
def test_all_pairs_are_those_of_a_loop(catalog: Catalog, version: str, text: str, axes: list[tuple[str, str]]) -> None:
    pairs = find_pairs(catalog, version, text)
    expected = slow_sentences(catalog, version, axes)
    for rows in (1, 10, 1 << 20):
        compiler = PairCompiler(pairs)
        assert fast_sentences([compiler.table(run) for run in compiler.runs(rows)]) == expected
    assert pairs.sentences == expected.total()


@pytest.mark.parametrize("layout", [2, 3])
def test_the_columns_say_what_the_sentence_holds(catalog: Catalog, layout: int) -> None:
    compiler = PairCompiler(find_pairs(with_layout(catalog, layout), "0.2.0", "ability x race_ethnicity"))
    rows = [row for run in compiler.runs() for row in compiler.table(run).to_pylist()]
    labels = {file.axis: file.label for file in catalog.axes} if layout == 3 else {}
    descriptors = {d.id: (a.axis, d) for a in catalog.at("0.2.0").axes for d in a.descriptors}
    for row in rows:
        filled = row["template"].format(**row)
        assert filled == row["text"]
        for n in ("1", "2"):
            axis, d = descriptors[row[f"descriptor_id_{n}"]]
            assert (row[f"axis_{n}"], row[f"descriptor_{n}"], row[f"bucket_{n}"]) == (axis, d.text, d.bucket)
            assert row[f"descriptor_preference_{n}"] == d.preference
            assert row.get(f"axis_label_{n}") == labels.get(axis)
        assert (row["noun"] is None) == (row["noun_phrase_type"] == "fixed_phrase")


counts = st.lists(st.integers(0, 40), min_size=1, max_size=12).filter(any)


@given(sentences=counts, part=st.floats(0, 1), seed=st.integers(0, 2**64))
def test_quotas_are_as_even_as_can_be(sentences: list[int], part: float, seed: int) -> None:
    held = np.array(sentences, np.int64)
    n = max(1, int(part * held.sum()))
    quotas = even_quotas(held, n, seed)
    assert quotas.sum() == n
    assert (quotas <= held).all()
    not_full = quotas[quotas < held]
    assert not not_full.size or quotas.max() - not_full.min() <= 1


@given(sentences=counts, part=st.floats(0, 1), seed=st.integers(0, 2**32), start=st.integers(0, 5))
def test_draws_are_different_numbers_and_do_not_depend_on_the_run(
    sentences: list[int], part: float, seed: int, start: int
) -> None:
    held = np.array(sentences, np.int64)
    quotas = even_quotas(held, max(1, int(part * held.sum())), seed)
    pair, number = draw(held, quotas, 0, seed)
    assert np.bincount(pair, minlength=len(held)).tolist() == quotas.tolist()
    assert len(set(zip(pair.tolist(), number.tolist(), strict=True))) == len(pair)
    assert (number >= 0).all()
    assert (number < held[pair]).all()
    start = min(start, len(held))
    rest = draw(held[start:], quotas[start:], start, seed)
    kept = pair >= start
    assert np.array_equal(rest[0], pair[kept] - start)
    assert np.array_equal(rest[1], number[kept])


def test_every_number_is_as_likely_to_be_drawn() -> None:
    held, quotas = np.full(20_000, 6, np.int64), np.full(20_000, 2, np.int64)
    _, number = draw(held, quotas, 0, 3)
    assert np.bincount(number) / 40_000 == pytest.approx(np.full(6, 1 / 6), abs=0.01)  # 5 standard deviations


@given(weights=st.lists(st.integers(0, 9), max_size=30), limit=st.integers(1, 20))
def test_runs_are_all_the_pairs_in_order_and_within_the_limit(weights: list[int], limit: int) -> None:
    runs = cut_runs(np.array(weights, np.int64), limit)
    assert [i for run in runs for i in range(*run)] == list(range(len(weights)))
    assert all(sum(weights[slice(*run)]) <= limit or run[1] - run[0] == 1 for run in runs)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 99), n=st.integers(1, 60))
def test_a_sample_is_some_of_all_and_even(catalog: Catalog, seed: int, n: int) -> None:
    pairs = find_pairs(catalog, "0.2.0", "all")
    everything = slow_sentences(catalog, "0.2.0", ALL)
    held = pairs.phrases.astype(np.int64) * len(pairs.templates)
    n = min(n, int(held.sum()))
    compiler = PairCompiler(pairs, even_quotas(held, n, seed), seed)
    drawn = fast_sentences([compiler.table(run) for run in compiler.runs(7)])
    assert drawn.total() == n
    assert drawn <= everything
    assert drawn == fast_sentences([compiler.table(run) for run in compiler.runs()])


def request(**more: object) -> Request:
    return Request(**{"version": "0.2.0", "axes": "all", **more})  # type: ignore[arg-type]


def texts(folder: Path) -> list[str]:
    return [text for table in open_release(folder).shards("intersections") for text in table["text"].to_pylist()]


def test_a_build_is_a_verified_release(catalog: Catalog, tmp_path: Path) -> None:
    manifest = write_intersections(catalog, request(), tmp_path / "i")
    assert verify_release(tmp_path / "i") == ()
    rows = manifest.tables["intersections"].rows
    assert count_intersections(catalog, request()) == (20, rows)
    shown = f"<HolisticBias 0.2.0 (intersections all): {rows:,} sentences, digest {manifest.digest[:12]}>"
    assert repr(open_release(tmp_path / "i")) == shown
    expected = (text for text, *_ in slow_sentences(catalog, "0.2.0", ALL).elements())
    assert sorted(texts(tmp_path / "i")) == sorted(expected)
    assert sorted(p.name for p in (tmp_path / "i").iterdir()) == ["README.md", "SHA256SUMS", "data", "manifest.json"]
    write_intersections(catalog, request(), tmp_path / "again")
    assert contents(tmp_path / "i") == contents(tmp_path / "again")
    with pytest.raises(HolisticBiasError, match="has no table sentences"):
        open_release(tmp_path / "i").sample(1, seed=0)
    shard = tmp_path / "i" / manifest.tables["intersections"].files[0]
    content = bytearray(shard.read_bytes())
    content[100] ^= 1
    shard.write_bytes(content)
    assert len(verify_release(tmp_path / "i")) == 1


def test_an_opened_release_never_gives_rows_of_another_one(catalog: Catalog, tmp_path: Path) -> None:
    write_intersections(catalog, request(), tmp_path / "i")
    opened = open_release(tmp_path / "i")
    shutil.rmtree(tmp_path / "i")
    write_intersections(catalog, request(axes="ability x race_ethnicity"), tmp_path / "i")
    with pytest.raises(ReleaseError, match=r"intersections-.*\.parquet has changed since .* open the release again"):
        next(opened.shards("intersections"))


def test_a_part_of_another_build_is_not_continued(catalog: Catalog, tmp_path: Path) -> None:
    part = tmp_path / ".i.part"
    (part / "data").mkdir(parents=True)
    (part / "data" / "intersections-00000-of-00001.parquet").write_bytes(b"of another")
    (part / ".plan.json").write_text(json.dumps({"request": "another"}), "utf-8")
    write_intersections(catalog, request(axes="ability x race_ethnicity"), tmp_path / "i")
    assert verify_release(tmp_path / "i") == ()


def test_two_builds_into_one_folder_do_not_mix(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = write_shard

    def write(*arguments: object) -> None:
        with pytest.raises(OutputError, match="another build is writing"):
            write_intersections(catalog, request(), tmp_path / "i")
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(intersections, "write_shard", write)
    write_intersections(catalog, request(), tmp_path / "i")
    assert verify_release(tmp_path / "i") == ()


def test_a_sample_has_seed_0_unless_another_is_given(catalog: Catalog, terms: Path, tmp_path: Path) -> None:
    write_intersections(catalog, request(sample=30, seed=0), tmp_path / "zero")
    options = ("--source", str(terms), "--out", str(tmp_path / "none"), "--intersections", "all", "--sample", "30")
    assert main(["build", *options]) == 0
    assert texts(tmp_path / "none") == texts(tmp_path / "zero")


INTERRUPTED = """
import os, signal
from holisticbias.__main__ import run
from holisticbias.release import intersections
write = intersections.write_shard
def write_and_interrupt(*arguments):
    write(*arguments)
    os.kill(os.getpid(), signal.SIGINT)
intersections.write_shard = write_and_interrupt
run()
"""


def test_an_interrupted_command_leaves_nothing_half_made_and_goes_on(
    terms: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["build", "--source", str(terms), "--out", "i", "--intersections", "all"]
    done = python("-c", INTERRUPTED, *command)
    kept = f"finished work is kept in {tmp_path / '.i.part'}; run the same command again to continue"
    assert (done.returncode, done.stderr.strip()) == (130, f"holisticbias: interrupted; {kept}")
    assert not (tmp_path / "i").exists()
    shards = {p.name: p.stat().st_mtime_ns for p in (tmp_path / ".i.part" / "data").glob("*.parquet")}
    assert shards
    assert main(command) == 0
    made = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "i" / "data").glob("*.parquet")}
    assert {name: made[name] for name in shards} == shards
    assert [p.name for p in tmp_path.iterdir()] == ["i"]


def test_a_build_that_stopped_when_it_had_a_manifest_ends_as_if_it_had_not(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_intersections(catalog, request(), tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(
            "holisticbias.release.manifest.checksums", Mock(side_effect=OSError(28, "No space left on device"))
        )
        with pytest.raises(OutputError, match="No space left on device; finished work is kept"):
            write_intersections(catalog, request(), tmp_path / "i")
    write_intersections(catalog, request(), tmp_path / "i")
    assert verify_release(tmp_path / "i") == ()
    assert contents(tmp_path / "i") == contents(tmp_path / "whole")


WHERE = {
    "axis=ability": {"race_ethnicity.black": 0, "ability.deaf": 1, "noun.woman": 1},
    "gender=female": {"noun.uncle": 0, "noun.woman": 1, "race_ethnicity.latina": 1},
    "gender=male": {"noun.uncle": 1, "noun.woman": 0, "race_ethnicity.latina": 0, "ability.deaf": 1},
    "first_turn_only=false": {"dialogue.hi": 0, "dialogue.im": 1},
    "family=seat": {"seat.this-is": 1, "dialogue.im": 0},
    "preference=reviewed": {"ability.hard-of-hearing": 1, "ability.deaf": 0},
    "bucket=auditory": {"ability.deaf": 1, "ability.disabled": 0, "race_ethnicity.black": 0},
    "bucket=auditory family=seat preference=reviewed": {"ability.hard-of-hearing": 1, "ability.deaf": 0},
}


@pytest.mark.parametrize("condition", WHERE)
def test_where_chooses_entries(catalog: Catalog, condition: str) -> None:
    conditions = condition.split()
    release = build_release(catalog, "0.2.0", where=conditions)
    assert release.manifest.where == tuple(conditions)
    assert f" ({', '.join(conditions)}): " in repr(release)
    ids = {i for c in ("descriptor_id", "noun_id", "template_id") for i in release.sentences[c].to_pylist()}
    assert {name: int(name in ids) for name in WHERE[condition]} == WHERE[condition]
    assert None in release.sentences["descriptor_id"].to_pylist()
