"""A local run: its configuration, its directory, and all services in one process."""
