"""How far Likelihood Bias can be trusted."""
