"""``holisticbias stereotypes pairs``: pair sentences about one group with the same sentences about another."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import counted, write
from holisticbias_eval.commands.shared import PATH, out_folder
from holisticbias_eval.options import read_own, settings_command

_SHOWN = 3


@settings_command(
    "Pair sentences about one group with sentences about another.", "stereotypes.settings:PairingSettings"
)
@click.option(
    "--sentences",
    type=PATH,
    required=True,
    help="Folder with sentences.parquet, or a table (.csv, .jsonl, .parquet) with the columns specification, "
    "attribute, term and sentence, or a gen_csv file of the published code.",
)
@out_folder
@click.option(
    "--specification",
    "names",
    multiple=True,
    metavar="NAME|FILE",
    help="Only this specification; may be given several times. Default: all that the table names.",
)
def command(sentences: Path, out: Path, names: tuple[str, ...], **_: Any) -> None:
    """Write pairs.parquet: each sentence with the other group's term in the same place.

    A sentence that cannot be converted keeps its row, with the id of the rule that rejects it. A sentence of a
    specification with three or more groups is paired with each other group.
    """
    from holisticbias_eval.progress import Display
    from holisticbias_eval.stereotypes.pair_rows import RULES
    from holisticbias_eval.stereotypes.pairs import make_pairs
    from holisticbias_eval.stereotypes.settings import PairingSettings
    from holisticbias_eval.units import printable

    table, names_left = make_pairs(sentences, out, names, read_own(PairingSettings), Display())
    rows = table.select(["sentence", "other_sentence", "rule", "source"]).to_pylist()
    for row in [row for row in rows if row["rule"] is None and row["source"] != "template"][:_SHOWN]:
        write(f"> {printable(row['sentence'])[:200]}\n  {printable(row['other_sentence'])[:200]}")
    templates = sum(row["source"] == "template" for row in rows)
    counts = Counter(row["rule"] for row in rows)
    write(f"{counted(counts.pop(None, 0), 'pairs')} of {counted(len(rows), 'rows')}, {templates:,} of templates")
    for rule, count in counts.most_common():
        write(f"  {rule}: {count:,} rejected. {RULES[rule]}")
    if names_left:
        ignored = ", ".join(printable(name)[:60] for name in names_left[:5])
        write(f"Left out, because they are not in the selection: {ignored}")
    write(f"Pairs: {out / 'pairs.parquet'}")
