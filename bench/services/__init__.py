"""The services, beside plain aiohttp in the same minute."""
