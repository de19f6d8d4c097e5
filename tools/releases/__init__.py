"""What `make release` makes a release of."""
