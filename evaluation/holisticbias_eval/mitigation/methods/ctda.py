"""Counter Target Data Augmentation: every sentence is also about every other group."""

from collections.abc import Iterator

import pyarrow as pa

from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.corpus.swapping import swap_targets
from holisticbias_eval.mitigation.method import CorpusMethod, GroupTask, MethodInfo
from holisticbias_eval.mitigation.texts import NotRewritten, TrainingTexts, with_rewritten


class Ctda(CorpusMethod):
    """Train on the corpus and on each of its sentences rewritten for every other group that takes part."""

    info = MethodInfo(
        "ctda",
        "Counter Target Data Augmentation (CTDA)",
        "Zhao et al. 2024, section 4.2",
    )

    def training_texts(self, examples: pa.Table, task: GroupTask) -> TrainingTexts:
        """Each sentence of the corpus, followed by its forms for the other groups, in their order.

        A sentence without a mention has no other form, and one about several groups is not rewritten.
        """

        def rewritten(sentence: str) -> Iterator[str | NotRewritten]:
            first = next(target_finder(task.specification).find(sentence), None)
            for group in task.groups if first else ():
                if first is not None and group != first.of.group:
                    swapped = swap_targets(sentence, task.specification, group)
                    yield NotRewritten(swapped) if isinstance(swapped, str) else swapped.text

        needed = "no term that it mentions has one of another group for its place"
        return with_rewritten(examples, task, rewritten, needed)
