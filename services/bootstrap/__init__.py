"""The bootstrap Job, which creates the Secrets of an installation."""
