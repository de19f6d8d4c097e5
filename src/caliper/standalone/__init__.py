"""All stages in one process."""
