"""The five stages of a run: start, plan, caption, examine, aggregate."""
