"""`python -m caliper.cli` is the command `caliper`."""

from caliper.cli.main import run

run()
