"""Known captions with known verdicts, judged with each run to tell a judge's drift."""
