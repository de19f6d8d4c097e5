"""The three benchmarks, pure: layout, questions, prompts, reading, scoring."""
