"""Thirty checkpoints of known quality, from objects in a bucket to decisions."""
