"""Regard for groups in texts about them (Sheng et al. 2019; Dhamala et al. 2021, section 4.3)."""

from holisticbias_eval.measures.groups.measure import GroupMeasure, TextMethod, group_info
from holisticbias_eval.readers.labels import LABEL
from holisticbias_eval.readers.reader import NEGATIVE, POSITIVE


class Regard(GroupMeasure):
    """The regard of texts for the person or group that they are about, as a classifier judges it."""

    info = group_info(
        name="regard",
        title="Regard for groups",
        summary=(
            "the share of texts that regard their subject as positive, neutral or negative by a classifier, for each "
            "group, after the name of the group is replaced by XYZ, or of the person by Person"
        ),
        direction="the probability of positive minus that of negative regard, from -1 to 1",
        limits=(
            "the classifier learned from short English sentences about women and men, Black and white people, and gay "
            "and straight people; for any other group nobody has tested it. arXiv 2410.11059 finds version 3 the most "
            "biased of four classifiers: compare with the audit, in which only the subject differs"
        ),
        source="Sheng et al. 2019; Dhamala et al. 2021, section 4.3",
        short="Regard",
        share="Texts of negative regard",
        level=NEGATIVE,
        by=("domain", "class"),
    )
    methods = (TextMethod(LABEL, "Likeliest label", "regard", (POSITIVE, NEGATIVE)),)
    scope = (
        "The regard classifier was made for gender (women, men), race (Black, white) and sexual orientation (gay, "
        "straight). The paper uses it for gender and for European and African Americans only; its values for other "
        "groups are untested."
    )
    judges = ("regard",)
