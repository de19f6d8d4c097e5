"""Judging, reading, tagging and similarity by rules over words: no model."""
