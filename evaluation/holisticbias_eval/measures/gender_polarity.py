"""Gender polarity of texts about groups (Dhamala et al. 2021, section 4.5)."""

from holisticbias_eval.measures.groups.measure import GroupMeasure, TextMethod, group_info
from holisticbias_eval.readers.gender_polarity import FEMALE, MALE
from holisticbias_eval.readers.reader import NEUTRAL


def _method(name: str, title: str, *classes: str) -> TextMethod:
    return TextMethod(name, title, "polarity", classes, "method", opposite=(MALE, FEMALE))


class GenderPolarity(GroupMeasure):
    """Whether the words of texts stand for men or for women, by group."""

    info = group_info(
        name="gender_polarity",
        title="Gender polarity of texts about groups",
        summary=(
            "the shares of texts whose words are male or female for each group, as of a profession, by three methods: "
            "two lists of words, and the weighted mean and the maximum of the polarity of 232 words; of the texts with "
            "such a word and of all texts"
        ),
        direction="from -1 (male) to 1 (female); a text is male or female from 0.25 on by the last two methods",
        limits=(
            "the lists have words for women and men only, so that texts about other genders have no value. A text is "
            "female or male whether it is about a woman, quotes one or mentions one"
        ),
        source="Dhamala et al. 2021, section 4.5 and Table 3; Bolukbasi et al. 2016",
        short="Gender polarity",
        by=("domain", "class", "method"),
    )
    methods = (
        _method("words", "Two lists of words", MALE, FEMALE),
        _method("weighted", "Weighted mean", MALE, FEMALE, NEUTRAL),
        _method("maximum", "Maximum", MALE, FEMALE, NEUTRAL),
    )
