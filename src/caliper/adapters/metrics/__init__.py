"""Metrics for Prometheus: the catalogue, the counters, and the page that serves them."""
