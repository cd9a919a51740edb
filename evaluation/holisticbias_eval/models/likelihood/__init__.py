"""Score text spans: engines, and the log-likelihoods of each kind of model."""
