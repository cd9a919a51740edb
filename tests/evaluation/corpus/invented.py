"""An invented specification and invented sentences; all groups and attributes are nonsense words."""

from holisticbias.terms.specification_entries import AttributeSet, Slot, Specification, TargetGroup
from holisticbias_eval.corpus.examples import COLUMNS

GROUPS = ("blicket", "stad", "elm", "wug")
"""``wug`` is held out."""
PLURALS = ("blickets", "stads", "elmfolk", "wugs")
SINGULARS = ("blicket", "stad", "elmer", "wug")
ADJECTIVES = ("blicketish", "stadic", "elmish", "wuggy")
ONLY = "blicket elder"
"""A term that only one group has."""
NEGATIVE = ("grobby", "flern*", "mizzic", "ugsome")
POSITIVE = ("trindle", "plonish", "arble", "vime")


def invented() -> Specification:
    """Four groups, one held out; plurals, singulars, adjectives, and a slot with one term."""
    return Specification(
        id="own.invented",
        text="Invented groups",
        sources=("contributors",),
        since="3.0.0",
        groups=tuple(TargetGroup(name=name, label=name, held_out=name == "wug") for name in GROUPS),
        slots=(
            Slot(form="plural", terms=PLURALS),
            Slot(form="noun", terms=SINGULARS),
            Slot(form="adjective", terms=ADJECTIVES),
            Slot(form="noun", terms=(ONLY, None, None, None)),
        ),
        attributes=(
            AttributeSet(name="negative", label="negative", terms=NEGATIVE, valence="negative"),
            AttributeSet(name="positive", label="positive", terms=POSITIVE, valence="positive"),
        ),
        opposites=(("grobby", "trindle"), ("flern*", "plonish"), ("mizzic", "arble")),
    )


def example(number: int, group: str, text: str, **more: object) -> dict[str, object]:
    """A row of a table of examples."""
    known = {"id": f"{group}-{number}", "dimension": "own.invented", "group": group, "text": text}
    return {**dict.fromkeys(COLUMNS), "attribute": "grobby", "attribute_set": "negative", **known, **more}


def examples(per_group: int, groups: tuple[str, ...] = GROUPS[:3]) -> list[dict[str, object]]:
    """Sentences of each group, all different in more than the group."""
    return [
        example(number, group, f"gate {number}{group[0]}: a {SINGULARS[GROUPS.index(group)]} is grobby")
        for number in range(per_group)
        for group in groups
    ]
