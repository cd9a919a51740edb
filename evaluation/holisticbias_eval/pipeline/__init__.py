"""Run an evaluation from end to end."""
