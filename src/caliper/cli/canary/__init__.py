"""Captions with prompt injections, to test a judge or a reader with."""
