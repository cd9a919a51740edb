"""The terms in texts that auxiliary losses compare, and their log-probabilities."""
