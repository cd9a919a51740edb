"""HolisticBias, the measurements: language models against a release, with honest statistics."""
