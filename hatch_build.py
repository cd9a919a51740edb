"""Puts the terms, recipes and results into a built wheel; an editable install reads them where they lie."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TERMS = (
    "descriptors",
    "nouns",
    "templates",
    "releases",
    "subsets",
    "sources.yaml",
    "waivers.yaml",
    "intersections.yaml",
)


EVALUATION = ("recipes", "results")


class TermsHook(BuildHookInterface[Any]):
    """Ships the terms as ``holisticbias/data``, recipes and published results as ``holisticbias_eval/data``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the terms to the files of a standard wheel."""
        if version == "standard":
            build_data["force_include"].update({name: f"holisticbias/data/{name}" for name in TERMS})
            build_data["force_include"].update(
                {f"evaluation/{name}": f"holisticbias_eval/data/{name}" for name in EVALUATION}
            )
