"""The aggregator as a process of its own."""
