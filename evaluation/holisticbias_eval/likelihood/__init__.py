"""Score text spans: the engines, each with the log-likelihoods of its kind of model."""
