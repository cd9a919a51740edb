"""Keep the rows of any stage between runs: scores, responses, labels."""
