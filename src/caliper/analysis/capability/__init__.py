"""What the CAPability paper analyses beside its scores, over the verdicts of several runs."""
