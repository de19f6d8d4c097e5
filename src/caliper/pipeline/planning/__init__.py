"""Planning: resolves requests into specs, plans runs and publishes their jobs."""
