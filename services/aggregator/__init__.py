"""The aggregator in its own process."""
