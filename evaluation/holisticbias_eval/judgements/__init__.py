"""Acute-Eval: people compare the responses of two models to the same prompts."""
