"""Core values as messages, and messages as bytes."""
