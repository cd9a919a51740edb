"""Counter Attribute Data Augmentation: every sentence also says the opposite of its group."""

import pyarrow as pa

from holisticbias_eval.corpus.mentions import attribute_finder
from holisticbias_eval.corpus.swapping import swap_attributes
from holisticbias_eval.mitigation.method import CorpusMethod, GroupTask, MethodInfo
from holisticbias_eval.mitigation.texts import NotRewritten, TrainingTexts, with_rewritten


class Cada(CorpusMethod):
    """Train on the corpus and on each of its sentences with every attribute replaced by its opposite."""

    info = MethodInfo(
        "cada",
        "Counter Attribute Data Augmentation (CADA)",
        "Zhao et al. 2024, section 4.2",
    )

    def training_texts(self, examples: pa.Table, task: GroupTask) -> TrainingTexts:
        """Each sentence of the corpus, followed by its opposite; a sentence without attributes has no opposite."""
        finder = attribute_finder(task.specification)

        def rewritten(sentence: str) -> list[str | NotRewritten]:
            if not any(finder.find(sentence)):
                return []
            return [swap_attributes(sentence, task.specification) or NotRewritten("no attribute has an opposite")]

        return with_rewritten(examples, task, rewritten, "no sentence has an attribute with an opposite")
