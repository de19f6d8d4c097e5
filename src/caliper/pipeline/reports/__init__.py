"""Report files, and reading them back."""
