"""The explorer: terms, releases, models and documentation as a static site."""
