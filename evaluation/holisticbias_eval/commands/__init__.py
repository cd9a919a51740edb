"""The verbs that the evaluation adds to ``holisticbias``."""
