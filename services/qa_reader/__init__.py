"""The QA reader as a process of its own."""
