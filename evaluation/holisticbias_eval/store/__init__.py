"""Keep scores between runs."""
