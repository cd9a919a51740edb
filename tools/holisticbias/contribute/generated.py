"""The files that are generated from the terms: the forms of issues and ``CODEOWNERS``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holisticbias.contribute.issue_forms import issue_chooser, issue_forms
from holisticbias.contribute.owners import code_owners
from holisticbias.source.folder import SourceFile
from holisticbias.terms.catalog import Catalog

OWNERS = ".github/CODEOWNERS"


def generated_files(catalog: Catalog, files: Iterable[SourceFile]) -> Mapping[str, str]:
    """The content of each generated file, by its path in the repository."""
    forms = {"config.yml": issue_chooser(), **issue_forms(catalog)}
    return {**{f".github/ISSUE_TEMPLATE/{name}": text for name, text in forms.items()}, OWNERS: code_owners(files)}
