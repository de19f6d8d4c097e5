"""The outside world, one module a thing, chosen by runtime and handed in."""
