"""Benches of the services, compared to plain aiohttp at the same time."""
