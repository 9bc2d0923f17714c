"""What is known of types and functions by their names."""
