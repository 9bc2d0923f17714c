"""Orders that nothing promises, and the places where they count."""
