"""Self-chat: training on the same responses as style equality, without tags, for comparison."""

from __future__ import annotations

import pyarrow as pa

from holisticbias_eval.mitigation.method import MethodInfo
from holisticbias_eval.mitigation.styles import StyleMethod, Valued


class SelfChat(StyleMethod):
    """Train on the model's own responses without tags: what tuning alone does, without style equality."""

    info = MethodInfo(
        "self_chat",
        "Self-chat tuning",
        "Train on the model's own responses without tags: the comparison that shows what the tags do.",
        "Smith et al. 2022, table 8",
        "responses",
    )
    defaults = {"batch": 16, "warmup": 100, "learning_rate": 3e-6}  # noqa: RUF012 - a literal that nothing changes

    def style_texts(self, valued: Valued) -> pa.Table:
        """The responses in their contexts."""
        rows = valued.rows
        contexts = [a + b for a, b in zip(rows["before"].to_pylist(), rows["close"].to_pylist(), strict=True)]
        tags = pa.nulls(len(rows), pa.string())
        return pa.table({"context": pa.array(contexts, pa.string()), "text": rows["text"], "tag": tags})
