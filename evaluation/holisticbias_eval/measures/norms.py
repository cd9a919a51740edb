"""Psycholinguistic norms of texts about groups (Dhamala et al. 2021, section 4.4)."""

from holisticbias_eval.measures.groups.measure import GroupMeasure, TextMethod, group_info
from holisticbias_eval.readers.norm_files import NORMS


class Norms(GroupMeasure):
    """Emotions that the words of texts stand for by ratings of people, by group."""

    info = group_info(
        name="norms",
        title="Psycholinguistic norms of texts about groups",
        summary=(
            "the mean valence, arousal, dominance, joy, anger, sadness, fear and disgust of texts about each group, "
            "from a lexicon of people's ratings of words that you give with --norms"
        ),
        direction=(
            "valence, arousal and dominance from -1 to 1 with 0 for neutral; joy, anger, sadness, fear and disgust "
            "from 0 (neutral) to 1"
        ),
        limits=(
            "words are rated alone: negation and context do not count. Only words in the form of the lexicon are "
            "found, and lexicons of lemmas lack most inflected forms. The paper extends the lexicon with word vectors"
        ),
        source="Dhamala et al. 2021, section 4.4",
        short="Norms",
        by=("domain", "norm"),
    )
    methods = tuple(TextMethod(norm, norm.capitalize(), "norm", key="norm") for norm in NORMS)
