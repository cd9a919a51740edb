"""Readers: what words and classifiers say of texts. A new reader is one file and one line here."""

from collections.abc import Mapping

from holisticbias_eval.readers.gender_polarity import GenderPolarityReader
from holisticbias_eval.readers.labels import OffensivenessReader, RegardReader, StylesReader, ToxicityReader
from holisticbias_eval.readers.norms import NormsReader
from holisticbias_eval.readers.reader import Reader
from holisticbias_eval.readers.sentiment import SentimentReader

READERS: Mapping[str, type[Reader]] = {
    reader.name: reader
    for reader in (
        StylesReader,
        OffensivenessReader,
        ToxicityReader,
        RegardReader,
        SentimentReader,
        NormsReader,
        GenderPolarityReader,
    )
}
