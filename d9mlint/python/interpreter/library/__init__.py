"""What builtins and the standard library compute: transfer functions of their calls."""
