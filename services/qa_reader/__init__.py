"""The QA reader in its own process."""
