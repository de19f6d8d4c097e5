"""The analyses of the CompreCap paper, over the outcomes of several runs."""
