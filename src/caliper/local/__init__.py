"""A run in one process: its configuration, its directory, and the services wired on memory."""
