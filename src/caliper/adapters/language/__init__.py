"""Noun taggers and embedders that need a model."""
