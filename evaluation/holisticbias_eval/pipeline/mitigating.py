"""Mitigate from end to end, with methods that learn from sentences, from a model's own responses, or with both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.style_texts import StyleMethod
from holisticbias_eval.pipeline.mitigation import Mitigated, MitigatedModel, Place, finish, mitigate_with_corpus
from holisticbias_eval.pipeline.mitigation_lessons import MitigationOptions, find_methods
from holisticbias_eval.pipeline.mitigation_measuring import Measuring, check_measuring
from holisticbias_eval.pipeline.style_mitigation import mitigate_styles
from holisticbias_eval.pipeline.style_tuning import StyleOptions
from holisticbias_eval.progress import Display


def mitigate(
    names: Sequence[str],
    options: MitigationOptions,
    style: StyleOptions,
    measuring: Measuring | None,
    out: Path,
    *,
    display: Display,
    overwrite: bool = False,
) -> Mitigated:
    """Train a model with each method, measure it before and after, and write one page that compares all.

    Without a model each kind of methods has its calibration model: the embedded gossip for sentences, the embedded
    responder for responses. One method writes its folder at ``out``, several write a folder each in it. An interrupted
    call continues when it is made again. ``measuring`` is null if nothing is to be measured. Raises
    ``EvaluationError``.
    """
    methods = find_methods(names)
    styles = [method for method in methods if isinstance(method, StyleMethod)]
    others = [method for method in methods if not isinstance(method, StyleMethod)]
    if measuring is not None:
        check_measuring(measuring)
        if (
            styles
            and others
            and options.model is None
            and (measuring.further or measuring.retain.retain or measuring.retain_command)
        ):
            raise MitigationError(
                "methods of sentences and of responses have two calibration models: name one --model for both, or "
                "run each kind with --measure, --retain and --retain-command"
            )
    place, models = Place(out, several=len(methods) > 1), list[MitigatedModel]()
    if others:
        models += mitigate_with_corpus(others, options, measuring, place, display=display, overwrite=overwrite)
    if styles:
        models += mitigate_styles(styles, options, style, measuring, place, display=display, overwrite=overwrite)
    return finish(models, place, display, measured=measuring is not None)
