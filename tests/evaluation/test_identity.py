"""Items that two tables share, and columns of text as whole numbers."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.identity import GROUPED, Identity, SharedSentences, count_shared, match_rows
from holisticbias_eval.statistics.cells import codes_of, first_rows

Columns = Mapping[str, list[object]]
S, OTHER = "sentence", "other_sentence"
# kind, the columns of both tables, and the counts of common, changed, gone and added items
COUNTS: tuple[tuple[str, Columns, Columns, tuple[int, int, int, int]], ...] = (
    ("lines", {"line_id": ["a", "b", "c"]}, {"line_id": ["c", "d", "a"]}, (2, 0, 1, 1)),
    ("candidates", {"candidate_id": ["a", "a"]}, {"candidate_id": ["b", "a"]}, (2, 0, 0, 1)),
    ("results", {"result_id": ["a", "b"]}, {"result_id": ["b"]}, (1, 0, 1, 0)),
    ("intersections", {"intersection_id": ["a"]}, {"intersection_id": ["a"]}, (1, 0, 0, 0)),
    (
        "prompts",
        {"response_id": ["a", "b", "c"], "prompt": ["x", "y", "z"], "persona": ["", "", None]},
        {"response_id": ["a", "b", "c"], "prompt": ["x", "other", "z"], "persona": ["", "", None]},
        (1, 2, 0, 0),
    ),
    (
        "pairs",
        {"pair_id": ["a", "b", "c"], S: ["x", "y", "z"], OTHER: ["x2", "y2", None]},
        {"pair_id": ["c", "b", "a"], S: ["z", "y", "x"], OTHER: ["z2", "y3", "x2"]},
        (1, 1, 0, 1),
    ),
    (
        "sentences",
        {"sentence_id": ["a", "b", "c"], "text": ["x", "y", "z"], "perplexity": [1.0, 2.0, 3.0], "nll": [1.0, 2, 3]},
        {"sentence_id": ["c", "b", "d"], "text": ["z", "y", "v"], "perplexity": [3.0, None, 1.0], "nll": [4.0, 2, 9]},
        (1, 1, 1, 1),
    ),
    (
        "sentences",  # of groups: the first of two equal rows counts, and rows are added, not keys
        {"dimension": ["d"] * 2, "group": ["g"] * 2, S: ["x", "y"], "perplexity": [1.0, 2], "nll": [1.0, 1]},
        {"dimension": ["d"] * 4, "group": ["g", "g", "h", "h"], S: ["x"] * 4, "perplexity": [1.0] * 4,
         "nll": [3.0] * 4},
        (1, 0, 1, 2),
    ),
    # answers of a task that is not known
    ("answers", {"a_id": ["a", "b"], "text": ["x", "y"]}, {"a_id": ["b", "c"], "text": ["z", "y"]}, (1, 0, 1, 1)),
    ("answers", {"q": ["a", "b"], "p": ["x", "y"], "nll": [1.0, 2]}, {"p": ["x", "z"], "q": ["a", "b"]}, (1, 0, 1, 1)),
)  # fmt: skip


def table(columns: Columns) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in columns.items()})


@pytest.mark.parametrize(("what", "first", "second", "counts"), COUNTS)
def test_what_two_tables_share_is_counted(
    what: str, first: Columns, second: Columns, counts: tuple[int, int, int, int]
) -> None:
    shared = count_shared(table(first), table(second))
    assert (shared.what, *_counts(shared)) == (what, *counts)
    same = count_shared(table(first), table(first))
    assert (same.gone, same.added) == (0, 0)


def test_likelihoods_are_compared_on_unchanged_sentences() -> None:
    ungrouped, grouped = (
        count_shared(table(first), table(second)).nats for kind, first, second, _ in COUNTS if kind == "sentences"
    )
    assert (ungrouped, grouped) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("item", "first", "second"),
    [
        ("line", {"line_id": ["a"]}, {"line_id": ["b"]}),
        ("pair of sentences", {"pair_id": ["a"], S: ["x"], OTHER: ["y"]}, {"pair_id": ["a"], S: ["x"], OTHER: ["z"]}),
        (
            "sentence",
            {"sentence_id": ["a"], "text": ["x"], "perplexity": [1.0], "nll": [1.0]},
            {"sentence_id": ["a"], "text": ["y"], "perplexity": [1.0], "nll": [1.0]},
        ),
        ("column of texts", {"nll": [1.0]}, {"nll": [1.0]}),
    ],
)
def test_tables_that_share_nothing_are_refused(item: str, first: Columns, second: Columns) -> None:
    with pytest.raises(SelectionError, match=f"the two runs have no {item} in common"):
        count_shared(table(first), table(second))


def test_rows_are_paired_whatever_the_type_of_their_keys() -> None:
    first = table({"id": ["a", "b", "c"], "n": [1, 2, 3]})
    second = table({"id": ["c", "a"], "n": [30, 10]}).set_column(0, "id", pa.array(["c", "a"]).dictionary_encode())
    shared = match_rows(first, second, Identity("lines", "line", ("id",)))
    one, other = shared.rows(first, second)
    assert (one["n"].to_pylist(), other["n"].to_pylist()) == ([1, 3], [10, 30])
    whole = match_rows(first, first, Identity("lines", "line", ("id",)))
    assert (whole.first, whole.second) == (None, None)


def test_keys_of_several_columns_do_not_run_into_each_other() -> None:
    first = table({"dimension": ["a", "b"], "group": ["bc", None], S: ["x", "y"], "perplexity": [1.0, 1.0]})
    second = table({"dimension": ["ab", "b"], "group": ["c", ""], S: ["x", "y"], "perplexity": [1.0, 1.0]})
    assert len(match_rows(first, second, GROUPED).same) == 0
    assert len(match_rows(first, first, Identity("lines", "line", ("dimension", "group"))).same) == 2


def _counts(shared: SharedSentences) -> tuple[int, int, int, int]:
    return shared.common, shared.changed, shared.gone, shared.added


PLAIN = pa.chunked_array([["b", "a"], ["b", "c"]], pa.string())
DICTIONARIES = pa.chunked_array(
    [
        pa.DictionaryArray.from_arrays(pa.array([2, 1], pa.int32()), ["unused", "a", "b"]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), ["b", "c"]),
    ]
)


TWICE = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, 3], pa.int32()), ["a", "b", "b", "c"])])


@pytest.mark.parametrize("column", [PLAIN, DICTIONARIES, TWICE], ids=["plain", "dictionaries", "a text twice"])
def test_codes_are_numbered_by_first_use(column: pa.ChunkedArray) -> None:
    texts, codes = codes_of(column)
    assert (texts, codes.tolist()) == (["b", "a", "c"], [0, 1, 0, 2])


def test_first_rows_of_codes() -> None:
    assert first_rows(np.array([0, 0, 1, 0, 2, 1], np.int32)).tolist() == [0, 2, 4]
