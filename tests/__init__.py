"""Tests; a package, so that no installed package named tests takes its place."""
