"""What the CaptionQA paper analyses beside its scores, over the answers of several runs."""
