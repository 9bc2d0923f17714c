"""What builds compiled modules, and of which sources: ``setup.py``, calls that load, CMake."""
