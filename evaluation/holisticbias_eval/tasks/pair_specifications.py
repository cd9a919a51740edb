"""Titles and versions of the specifications of pairs."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from holisticbias.errors import HolisticBiasError
from holisticbias.source.folder import find_source
from holisticbias.terms.versions import version_key
from holisticbias_eval.stereotypes.specifications import known_specifications, list_specifications


def specifications_version(names: Mapping[str, None]) -> str:
    """The newest version of the dataset, from which the specifications are, or that they are not of the dataset."""
    try:
        versions = [path.stem for path in (find_source() / "releases").glob("*.yaml")]
        known = {specification.id for specification in list_specifications()}
    except HolisticBiasError:
        return "not known: the dataset is not installed"
    unknown = [name for name in names if name not in known]
    if len(unknown) == len(names):
        return "not of the dataset"
    newest = max(versions, key=version_key)
    return f"{newest}, but for {', '.join(unknown)}" if unknown else newest


def with_specifications(pairs: pa.Table) -> pa.Table:
    """Add the title of each specification (``label``) and whether it is a control, unless given."""
    try:
        known = {specification.id: specification for specification in known_specifications()}
    except HolisticBiasError:
        known = {}
    names = pairs["specification"].to_pylist()
    if "label" not in pairs.column_names:
        labels = [known[name].text if name in known else None for name in names]
        pairs = pairs.append_column("label", pa.array(labels, pa.string()))
    if "control" not in pairs.column_names:
        controls = [known[name].control if name in known else False for name in names]
        pairs = pairs.append_column("control", pa.array(controls))
    return pairs
