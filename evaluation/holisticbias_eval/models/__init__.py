"""Models behind the scorer's interface. torch and transformers are imported here alone, when a model is loaded."""
