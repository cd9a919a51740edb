"""Commands that the evaluation adds to ``holisticbias``."""
