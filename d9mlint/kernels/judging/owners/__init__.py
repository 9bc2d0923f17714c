"""Who writes to a cell: proofs that one thread owns it, and who meets where nobody does."""
