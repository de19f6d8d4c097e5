"""The version of Caliper; it is part of every run."""

__version__ = "0.1.0"
