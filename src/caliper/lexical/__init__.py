"""Judging, reading, tagging and similarity by rules over words, without a model."""
