"""Load models: folders, GGUF files, Hub repositories and the embedded model."""
