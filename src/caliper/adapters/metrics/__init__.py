"""Metrics for Prometheus: what there is, how it is counted, and where it is read."""
