"""Parts of measures of tasks that a model does besides."""
