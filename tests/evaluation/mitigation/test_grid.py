"""Settings, grids, and the choice of a point."""

import math
from itertools import product
from pathlib import Path

import pytest

from holisticbias_eval.errors import EvaluationError, MitigationError
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.settings import FILES, Grid, TrainingSettings, grid_points, rank

GRID = Grid.model_validate({"id": "two", "batch": [4, 8], "weight": [1, 2], "patience": [3], "source": "by hand"})


def test_the_papers_grid_has_all_of_its_values() -> None:
    """It does not stop early and has no warm-up, whatever the method."""
    paper = FILES.read("zhao-2024")
    points = list(grid_points(paper, {}, {}))
    found = {(one.batch, one.accumulation, one.lm_weight, one.weight) for one in points}
    assert found == set(product((4, 8, 16), (1, 5, 8), (0.001, 0.01), (10.0, 50.0, 100.0)))
    assert {(one.epochs, one.learning_rate, one.optimizer) for one in points} == {(6, 5e-5, "adamw")}
    for defaults in ({}, *({**method.defaults, "patience": 3} for method in METHODS.values())):
        assert {(one.patience, one.warmup) for one in grid_points(paper, {}, defaults)} == {(None, 0)}


def test_a_grid_sets_stopping_criterion_and_warm_up() -> None:
    values = {"patience": [0, 2], "criterion": ["loss"], "warmup": [10], "evaluations": [4]}
    grid = Grid.model_validate({"id": "own", "source": "by hand", **values})
    points = list(grid_points(grid, {}, {"patience": 3, "warmup": 0}))
    assert [(one.patience, one.criterion, one.warmup, one.evaluations) for one in points] == [
        (None, "loss", 10, 4),
        (2, "loss", 10, 4),
    ]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_grid_of_its_own(name: str) -> None:
    """It is what ``--grid default`` tries."""
    grid = FILES.read(name)
    points = list(grid_points(grid, {}, METHODS[name].defaults))
    assert grid.id == name
    assert len(points) == len(set(points)) >= 6


def test_a_grids_values_come_before_a_methods_and_the_users_beside_both() -> None:
    points = list(grid_points(GRID, {"seed": 3}, {"weight": 9.0, "lm_weight": 0.5, "seed": 1}))
    assert [(one.batch, one.weight) for one in points] == [(4, 1.0), (4, 2.0), (8, 1.0), (8, 2.0)]
    assert {(one.lm_weight, one.seed) for one in points} == {(0.5, 3)}
    assert list(grid_points(None, {"weight": 4.0}, {"weight": 9.0})) == [TrainingSettings(weight=4.0)]
    assert list(grid_points(None, {"epochs": 2}, {"steps": 250})) == [TrainingSettings(epochs=2)]
    assert list(grid_points(None, {"patience": 0}, {})) == [TrainingSettings(patience=None)]


def test_values_that_are_not_valid_are_one_line() -> None:
    for name in ("batch", "patience"):
        with pytest.raises(EvaluationError, match=f"--{name} is also in the grid two: leave one of them out"):
            list(grid_points(GRID, {name: 2 if name == "batch" else None}, {}))
    with pytest.raises(EvaluationError, match="--learning-rate: it must be greater than 0"):
        list(grid_points(GRID, {"learning_rate": 0}, {}))
    with pytest.raises(EvaluationError, match="--learning-rate: it must be a finite number"):
        list(grid_points(GRID, {"learning_rate": float("nan")}, {}))


def test_a_grid_file_with_a_wrong_key_names_its_place(tmp_path: Path) -> None:
    path = tmp_path / "grid.yaml"
    path.write_text("id: own\nbatch: [0]\nsource: me\n", "utf-8")
    with pytest.raises(MitigationError, match=r"grid.yaml: batch.0: it must be at least 1"):
        FILES.read(str(path))


def test_numbers_of_steps() -> None:
    def steps(texts: int, **values: int) -> tuple[int, int]:
        settings = TrainingSettings(**values)
        return settings.total_steps(texts), settings.steps_between_evaluations(texts)

    assert steps(100, epochs=2, batch=8) == (26, 3)
    assert steps(100, epochs=2, batch=8, accumulation=5) == (6, 1)
    assert steps(1, epochs=6, batch=16, accumulation=8) == (6, 1)
    assert steps(100, epochs=2, steps=7, evaluations=2) == (7, 4)


def test_the_smallest_f_is_chosen_among_points_that_cost_little() -> None:
    points = {
        "small F, too costly": (0.1, 10.6),
        "chosen": (0.5, 10.5),
        "larger F, cheaper": (0.6, 9.0),
        "F is not defined": (None, 9.0),
        "costliest": (0.0, 99.0),
        "broke off": (None, None),
    }
    ordered = sorted(points, key=lambda name: rank(*points[name], most=10.5))
    assert ordered == [
        "chosen", "larger F, cheaper", "F is not defined", "small F, too costly", "costliest", "broke off",
    ]  # fmt: skip
    assert rank(math.inf, 10.0, 10.0)[0] == 0
