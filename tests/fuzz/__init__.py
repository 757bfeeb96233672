"""Coverage-guided fuzzing of what reads a model's words."""
