"""Noun taggers and embedders that use a model."""
