from holisticbias_eval.measures.measure import View
from holisticbias_eval.sections import Section


def perplexity_sections(view: View) -> tuple[Section, ...]:
    return ()
