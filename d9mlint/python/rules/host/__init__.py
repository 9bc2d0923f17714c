"""The host: sets, listings, hashes, clocks, threads."""
