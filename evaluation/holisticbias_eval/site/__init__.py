"""The explorer: terms, releases and models as a static site."""
