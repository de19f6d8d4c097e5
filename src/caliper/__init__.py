"""Caliper: evaluate image and video captioning checkpoints on three benchmarks."""
