"""The checks of `caliper doctor`."""
