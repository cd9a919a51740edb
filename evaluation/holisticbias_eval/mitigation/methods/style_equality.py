"""Style equality: responses are tagged by the bias of their style, and the model learns what the tags mean."""

from collections.abc import Sequence

from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.method import MethodInfo
from holisticbias_eval.mitigation.styles import BIAS, NO_BIAS, StyleMethod, Valued


class StyleEquality(StyleMethod):
    """Train on the model's own responses with a tag at the end of the context: ``bias`` or ``no_bias``.

    Afterwards the model responds to contexts that end with ``no_bias``.
    """

    info = MethodInfo(
        "style_equality",
        "Style equality",
        "Smith et al. 2022, sections 4 and C.1",
        "responses",
    )
    control = NO_BIAS

    def tags(self, valued: Valued) -> Sequence[str]:
        """The tag of each response; raises ``MitigationError`` if the threshold gives all responses the same."""
        biased = valued.biased.tolist()
        if len(set(biased)) < 2:
            tag = BIAS if biased[0] else NO_BIAS
            raise MitigationError(
                f"the threshold {valued.threshold:g} tags every response {tag}: their values go from "
                f"{valued.values.min():.3g} to {valued.values.max():.3g}"
            )
        return [BIAS if one else NO_BIAS for one in biased]
