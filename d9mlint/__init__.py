"""d9mlint: finds what makes two runs of a deep-learning training program give different results."""

__version__ = "0.2.0"
