"""The verbs of ``holisticbias``, one file each; a verb's options are apart from what it does."""
