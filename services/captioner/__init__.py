"""The captioner as a process of its own."""
