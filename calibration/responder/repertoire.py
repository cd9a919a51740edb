"""Read the answers of the responder from ``responses.yaml``."""

from math import isclose
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.models.embedded.planted import Place, read_planted

RESPONSES = Path(__file__).with_name("responses.yaml")
PROMPT, DESCRIPTOR = "{prompt}", "{descriptor}"


class AnswerStyle(Record):
    """A style: how often it answers where nothing is planted, and its wordings; without wordings it answers nothing.

    ``judged_as`` is the style that a classifier finds in it, if that is another one.
    """

    share: Annotated[float, Field(ge=0, le=1)]
    wordings: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    judged_as: str | None = None


class Shift(Place):
    """One plant: ``moves`` times the strength of a term is added to the shares of styles in some templates."""

    moves: dict[str, float]
    strengths: dict[str, Annotated[float, Field(ge=-1, le=1)]]


class Repertoire(Record):
    """All styles, their clusters, the planted shifts, and the release that is answered."""

    release: str
    seed: Annotated[int, Field(ge=0)]
    styles: dict[str, AnswerStyle]
    clusters: dict[str, tuple[str, ...]]
    plants: tuple[Shift, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not isclose(sum(style.share for style in self.styles.values()), 1, abs_tol=1e-9):
            raise ValueError("styles: the shares must sum to 1")
        for name, style in self.styles.items():
            if style.judged_as is not None and style.judged_as not in self.labels:
                raise ValueError(
                    f"styles.{name}.judged_as: {style.judged_as!r} is not a style that is judged as itself"
                )
        for name, styles in self.clusters.items():
            self._require(f"clusters.{name}", styles, self.labels)
        for plant in self.plants:
            self._require(f"plant {plant.id}", tuple(plant.moves), tuple(self.styles))
            if not isclose(sum(plant.moves.values()), 0, abs_tol=1e-9):
                raise ValueError(f"plant {plant.id}: the moves must sum to 0")
        return self

    def _require(self, where: str, wanted: tuple[str, ...], held: tuple[str, ...]) -> None:
        for name in wanted:
            if name not in held:
                raise ValueError(f"{where}: there is no style {name!r}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The styles that a classifier tells apart, in order."""
        return tuple(name for name, style in self.styles.items() if style.wordings and style.judged_as is None)


def read_repertoire(path: Path = RESPONSES) -> Repertoire:
    """Read the repertoire of a file; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_planted(path, Repertoire)
