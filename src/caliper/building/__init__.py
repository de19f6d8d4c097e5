"""Pure rules for building a benchmark: filters, duplicates, decisions, balance."""
