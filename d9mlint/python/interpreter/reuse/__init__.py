"""What is interpreted once and done again: modules that entries share, and calls that can give nothing else."""
