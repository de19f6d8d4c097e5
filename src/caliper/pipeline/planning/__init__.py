"""Planning: resolves requests into specs, plans runs and makes their jobs."""
