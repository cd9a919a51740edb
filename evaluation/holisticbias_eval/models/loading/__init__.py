"""Load a model and its tokenizer: folders, GGUF files, Hub repositories, or models of transformers."""
