"""Workers, which take jobs from a topic, and the handlers of these jobs."""
