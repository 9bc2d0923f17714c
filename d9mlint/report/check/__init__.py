"""What ``d9mlint check`` found as one HTML file: findings by cause, programs with their plans, what was not seen."""
