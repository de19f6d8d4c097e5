"""Scores of runs that go on, kept up by the samples that changed."""
