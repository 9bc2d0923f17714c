"""Patches of what stands beside programs: config files, launchers, images."""
