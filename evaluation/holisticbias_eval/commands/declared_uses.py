"""The uses of the options of ``mitigate``: methods and inputs."""

from __future__ import annotations

from holisticbias_eval.commands.option_uses import ALWAYS, Need, Use, Uses
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.mitigation.methods import METHODS

TRAINING = ("steps", "batch", "accumulation", "learning_rate", "warmup", "optimizer", "lm_weight", "patience",
            "criterion", "evaluations", "seed", "lora_rank", "device", "grid")  # fmt: skip


def mitigate_uses() -> Uses:
    """The uses of the options of ``mitigate``, by method."""
    corpus, styled = (
        tuple(n for n, m in METHODS.items() if m.info.needs == needs) for needs in ("corpus", "responses")
    )
    added = tuple(n for n, m in METHODS.items() if type(m).auxiliary_loss is not Method.auxiliary_loss)
    measured = Need("without --no-measure", lambda given: not given["no_measure"])
    asking = Need(
        "without --responses and --no-measure together",
        lambda given: given["responses"] is None or not given["no_measure"],
    )
    further = Need("with --measure", lambda given: bool(given["measure"]))
    scored = Need("with --measure or --retain", lambda given: bool(given["measure"] or given["retain"]))
    asked = ("per_cell", "where", "decoding", "system", "separator", "continuation", "classifiers")
    always = ("methods", "model", "out", "overwrite", "no_measure", "measure", "retain", "retain_command")
    return {
        **dict.fromkeys((*always, *TRAINING), ALWAYS),
        **dict.fromkeys(("specification", "corpus", "hold_out", "groups"), (Use(corpus),)),
        "first_token": (Use(corpus), Use(None, (scored, measured))),
        **dict.fromkeys(("responses", "alpha", "threshold", "quantile"), (Use(styled),)),
        **dict.fromkeys(asked, (Use(styled, (asking,)),)),
        "epochs": (Use(None, (Need("without --steps", lambda given: given["steps"] is None),)),),
        "weight": (Use(added),),
        "max_perplexity_rise": (Use(None, (Need("with --grid", lambda given: given["grid"] is not None),)),),
        "release": (Use(styled, (asking,)), Use(None, (further, measured))),
    }
