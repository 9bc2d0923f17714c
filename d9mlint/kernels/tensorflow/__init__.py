"""From a site to TensorFlow's ops and their Python names."""
