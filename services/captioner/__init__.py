"""The captioner in its own process."""
