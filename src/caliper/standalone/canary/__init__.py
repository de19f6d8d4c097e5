"""Known-wrong captions with injections, to try a judge or a reader on."""
