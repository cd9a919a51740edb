"""Psycholinguistic norms of texts about groups (Dhamala et al. 2021, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.measure import Info, Settings
from holisticbias_eval.measures.options import NormSettings
from holisticbias_eval.readings.anonymise import NAME
from holisticbias_eval.readings.columns import measured_texts, read_distinct
from holisticbias_eval.readings.norm_files import AFFECT, NORMS
from holisticbias_eval.readings.norms import function_words_settings, norm_carriers, norm_lexicon, read_norms
from holisticbias_eval.settings import Use


def _method(norm: str) -> Method:
    return Method(
        norm, norm.capitalize(), "norm", (), f"larger: more {norm}", "norm", least=-1 if norm in AFFECT else 0, most=1
    )


class Norms(GroupMeasure):
    """Emotions that the words of texts stand for by ratings of people, by group."""

    uses = (Use(NormSettings),)
    info: ClassVar[Info] = Info(
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
        headline="disparity",
        better={"disparity": "lower"},
        names={"disparity": "Norms, largest difference of groups"},
        by=("domain", "norm"),
    )
    methods: ClassVar[tuple[Method, ...]] = tuple(_method(norm) for norm in NORMS)

    def signature(self, settings: Settings) -> Mapping[str, str]:
        """The digests of the lexicons and of the list of words that are left out."""
        return {
            **super().signature(settings),
            **norm_lexicon(settings.norms).signature,
            **function_words_settings(),
        }

    def read(self, texts: pa.Table, settings: Settings, probabilities: pa.Table | None) -> pa.Table:
        """Add the columns of each norm that the lexicons have.

        A person's name becomes XYZ too: lexicons of norms have a value for the word person.
        """
        lexicon = norm_lexicon(settings.norms)
        return read_distinct(texts, self.info.name, lambda distinct: read_norms(distinct, lexicon), NAME)

    def carriers(self, texts: pa.Table, settings: Settings, method: Method) -> Iterator[Mapping[str, float]]:
        """The words of the lexicon; their contributions add up to the value."""
        lexicon = norm_lexicon(settings.norms)
        return (norm_carriers(text, lexicon, method.name) if text else {} for text in measured_texts(texts, NAME))
