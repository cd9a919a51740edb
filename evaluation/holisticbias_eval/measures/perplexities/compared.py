from holisticbias_eval.figures import Figures
from holisticbias_eval.sections import Section


def compared_section(changes: Figures) -> Section:
    return Section("x", "x", ())
