"""Models behind OpenAI-compatible servers, which are asked over HTTP."""
