"""Class, verdict and reason of each atomic."""
