"""What recording a run costs."""
