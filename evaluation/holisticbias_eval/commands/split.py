"""``holisticbias corpus split``: divide examples into training, validation and test."""

from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import counted, write
from holisticbias_eval.commands.shared import PATH, out_folder, specification_option
from holisticbias_eval.options import read_own, settings_command


@settings_command("Divide examples into training, validation and test.", "corpus.settings:SplitSettings")
@click.argument("examples", type=PATH)
@specification_option
@out_folder
def command(examples: Path, specification: str, out: Path, **_: Any) -> None:
    """Write train.parquet, validation.parquet, test.parquet and split.json.

    EXAMPLES is a table with dimension, group and text, and label if people have annotated it; only biased sentences
    count. Validation and test draw equal numbers of sentences from each group that has some, and have each sentence
    once for every group: the group's terms are swapped, and all else stays (Zhao et al. 2024). The rest is training,
    which has all sentences that are about several groups or cannot be rewritten. Sentences about held-out groups are
    left out.
    """
    from holisticbias_eval.corpus.settings import SplitSettings
    from holisticbias_eval.corpus.split_folder import PARTS, make_split
    from holisticbias_eval.progress import Display
    from holisticbias_eval.units import printable

    split = make_split(examples, specification, out, read_own(SplitSettings), Display())
    if not split.labelled:
        write("The examples have no labels: all count as biased.", err=True)
    write(f"  {'sentences':<28} {'training':>10} {'validation':>10} {'test':>10}")
    for group, counts in split.groups.items():
        numbers = " ".join(f"{counts[part]:>10,}" for part in PARTS)
        write(f"  {printable(group)[:28]:<28} {numbers}")
    if split.missing_groups:
        write(printable(split.missing_groups))
    for reason, count in split.left_out.items():
        write(f"Left out: {counted(count, 'examples')}: {reason}")
    for reason, count in split.kept_from_test.items():
        write(f"Training only: {counted(count, 'sentences')}: {printable(reason)}")
    if split.repeated_forms:
        write(
            "Sentences of test or validation that differ from another one there in the group alone, because there are "
            f"too few different sentences: {split.repeated_forms:,}"
        )
    if split.shared_forms:
        write(
            "Training sentences that differ from one of test or validation in the group alone: "
            f"{split.shared_forms:,}; --apart leaves them out"
        )
    write(f"Split: {out}")
