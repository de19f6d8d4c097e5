"""Adapters to the outside world, one per technology, chosen and injected by the wiring."""
