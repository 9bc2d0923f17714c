"""Random generators and their seeds."""
