"""Makes the Secrets of an installation."""
