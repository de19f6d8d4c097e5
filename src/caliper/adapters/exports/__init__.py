"""Reports and verdicts as files."""
