"""What a model is asked: a release's sentences, SEAT templates, contexts."""
