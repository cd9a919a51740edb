"""Growth of time and memory with the number of terms.

The descriptors of version 2.0.0 are copied with invented endings. For each number of copies, each
phase runs in a new process, in this order; a phase may use what earlier phases left in the folder:

- ``build`` compiles the release and writes it;
- ``open`` opens it and reads its descriptors, but no sentence;
- ``verify`` checks it;
- ``diff`` compares its terms with version 2.0.0;
- ``scores``, ``statistics`` and ``compare``: see ``growth_statistics.py``.

``PHASE_exponent`` is the slope of the logarithm of the processor time over the logarithm of the number of sentences: it
is 1 if time grows like the work. ``PHASE_peak_mb`` is the peak memory of the process (10^6 bytes) at 4 times.

The default is 1 and 4 times, which takes five minutes of processor time, 4 GB of memory and 1 GB of disk.

    python benchmarks/growth.py [--scales 1,2,4] [--phases build,open] [--json]
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shared import ROOT, Cost, make_parser, measure_process

if TYPE_CHECKING:  # each phase imports what it needs, because its time and memory count
    from holisticbias.terms.catalog import Catalog
    from holisticbias.terms.entries import Descriptor

BASE = "2.0.0"
VERSION = "2.0.999"  # holds the entries of the base, and no published version has this number
PEAK_AT = 4

Phase = Callable[[Path, int], None]


def scaled_catalog(copies: int) -> Catalog:
    """The terms of the base version as a catalog with one version; each descriptor occurs ``copies`` times."""
    from holisticbias import load_catalog

    catalog = load_catalog(ROOT)
    held = catalog.at(BASE)
    release = catalog.release(BASE).model_copy(update={"version": VERSION, "digest": None, "tables": {}})
    axes = (axis.model_copy(update={"descriptors": tuple(_copies(axis.descriptors, copies))}) for axis in held.axes)
    families = (
        f.model_copy(update={"templates": tuple(t.model_copy(update={"history": ()}) for t in f.templates)})
        for f in held.families
    )
    return replace(held, axes=tuple(axes), families=tuple(families), releases=(release,))


def _copies(descriptors: Sequence[Descriptor], copies: int) -> Iterator[Descriptor]:
    for number in range(copies):
        ending = "" if number == 0 else f"-{_syllables(number)}"
        for d in descriptors:
            plural = None if d.plural is None else d.plural + ending
            changes = {"id": d.id + ending, "text": d.text + ending, "plural": plural, "history": ()}
            yield d.model_copy(update=changes)


def _syllables(number: int) -> str:
    """An invented word for each number."""
    high, low = divmod(number, 35)
    syllable = f"{'bdfglmz'[low % 7]}{'aeiou'[low // 7]}"
    return (_syllables(high) if high else "") + syllable


def build(folder: Path, copies: int) -> None:
    """Compile a release and write it."""
    from holisticbias import build_release, write_release

    write_release(build_release(scaled_catalog(copies), VERSION), folder / "release")


def open_folder(folder: Path, copies: int) -> None:
    """Open the release and read a small table."""
    from holisticbias import open_release

    assert open_release(folder / "release").tables["descriptors"].num_rows > copies


def verify(folder: Path, _: int) -> None:
    """Verify the release."""
    from holisticbias.release.verify import verify_release

    assert verify_release(folder / "release") == ()


def diff(_: Path, copies: int) -> None:
    """Compare the terms with those of the base version."""
    from holisticbias.contribute.diff import compare
    from holisticbias.contribute.revisions import Revision

    before, after = (Revision(name, scaled_catalog(n), VERSION) for name, n in (("1", 1), ("copies", copies)))
    assert (compare(before, after).sentences.added > 0) == (copies > 1)


def of_statistics(name: str) -> Phase:
    """A phase of ``growth_statistics.py``, which is imported when it runs."""

    def phase(folder: Path, copies: int) -> None:
        getattr(importlib.import_module("growth_statistics"), name)(folder, copies)

    return phase


PHASES: Mapping[str, Phase] = {
    "build": build,
    "open": open_folder,
    "verify": verify,
    "diff": diff,
    "scores": of_statistics("write_scores"),
    "statistics": of_statistics("statistics"),
    "compare": of_statistics("compare"),
}
NOT_FITTED = ("diff",)  # with one copy it has nothing to compare


def measure(phase: str, folder: Path, copies: int) -> Cost:
    """Run a phase in a new process; ``CalledProcessError`` if it fails."""
    return measure_process(
        (sys.executable, __file__, "--phase", phase, "--copies", str(copies), "--folder", str(folder))
    )


def exponent(rows: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of the logarithm of time over the logarithm of rows, by least squares."""
    import numpy as np

    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])


def figures(scales: Sequence[int], phases: Sequence[str]) -> dict[str, object]:
    """The exponents, the peaks at 4 times (or the largest scale below it), and all costs by number of copies."""
    from holisticbias.release.manifest import read_manifest

    costs: dict[int, dict[str, Cost]] = {}
    rows: dict[int, int] = {}
    megabytes: dict[int, float] = {}
    for copies in scales:
        with tempfile.TemporaryDirectory() as name:
            costs[copies] = {phase: measure(phase, Path(name), copies) for phase in phases}
            rows[copies] = read_manifest(Path(name, "release")).tables["sentences"].rows
            megabytes[copies] = sum(p.stat().st_size for p in Path(name, "release").rglob("*.*")) / 1e6
    found: dict[str, object] = {}
    for phase in phases:
        if phase not in NOT_FITTED and len(scales) > 1:
            seconds = [costs[copies][phase].processor_seconds for copies in scales]
            found[f"{phase}_exponent"] = round(exponent([rows[copies] for copies in scales], seconds), 3)
        found[f"{phase}_peak_mb"] = round(costs[max(s for s in scales if s <= PEAK_AT)][phase].peak_mb, 1)
    for copies in scales:
        shown = {
            phase: [round(cost.processor_seconds, 2), round(cost.peak_mb, 1)] for phase, cost in costs[copies].items()
        }
        found[f"at_{copies}"] = {"sentences": rows[copies], "folder_mb": round(megabytes[copies], 1), **shown}
    return found


def main() -> None:
    """Print the figures, or run one phase."""
    parser = make_parser(__doc__)
    parser.add_argument("--scales", default="1,4", help="numbers of copies")
    parser.add_argument("--phases", default=",".join(PHASES), help="phases to measure; the first must be build")
    for name in ("--phase", "--copies", "--folder"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        PHASES[options.phase](Path(options.folder), int(options.copies))
        return
    found = figures([int(scale) for scale in options.scales.split(",")], options.phases.split(","))
    print(json.dumps(found) if options.json else "\n".join(f"{name:24} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
