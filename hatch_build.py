"""Add the data to a wheel, and their commit to an sdist; an editable install reads it from the checkout."""

import runpy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TERMS = (
    "descriptors",
    "nouns",
    "templates",
    "collections",
    "prompts",
    "specifications",
    "releases",
    "subsets",
    "sources.yaml",
    "waivers.yaml",
    "intersections.yaml",
)
EVALUATION = (
    "classifiers",
    "clusters",
    "decoding",
    "grids",
    "inflammatory",
    "phrases",
    "polarity",
    "questions",
    "recipes",
    "results",
    "shots",
    "styles",
    "words",
)


class TermsHook(BuildHookInterface[Any]):
    """Ship terms as ``holisticbias/data``, named files and results as ``holisticbias_eval/data``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the terms, and the commit of the terms if it is known, to a standard wheel; to an sdist the commit."""
        if self.target_name == "sdist":
            build_data["force_include"].update(self._commit(""))
        elif version == "standard":
            build_data["force_include"].update(
                {name: f"holisticbias/data/{name}" for name in TERMS if (Path(self.root) / name).exists()}
            )
            build_data["force_include"].update(
                {f"evaluation/{name}": f"holisticbias_eval/data/{name}" for name in EVALUATION}
            )
            build_data["force_include"].update(self._commit("holisticbias/data/"))

    def _commit(self, folder: str) -> dict[str, str]:
        module = runpy.run_path(str(Path(self.root) / "tools" / "holisticbias" / "release" / "source_commit.py"))
        commit = module["source_commit"](Path(self.root), TERMS)
        if commit is None:
            return {}
        self._made = TemporaryDirectory()
        file = Path(self._made.name) / module["COMMIT"]
        file.write_text(f"{commit}\n", "utf-8")
        return {str(file): f"{folder}{file.name}"}
