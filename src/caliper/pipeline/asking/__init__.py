"""Calls to models: writing captions, examining them, and caching replies."""
