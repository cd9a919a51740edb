"""Self-chat: training on the same responses as style equality, without tags, for comparison."""

from collections.abc import Sequence

from holisticbias_eval.mitigation.method import MethodInfo
from holisticbias_eval.mitigation.styles import StyleMethod, Valued


class SelfChat(StyleMethod):
    """Train on the model's own responses without tags: what tuning alone does, without style equality."""

    info = MethodInfo(
        "self_chat",
        "Self-chat tuning",
        "Smith et al. 2022, table 8",
        "responses",
    )

    def tags(self, valued: Valued) -> Sequence[str | None]:
        """No tag for any response."""
        return [None] * len(valued.rows)
