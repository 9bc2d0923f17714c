"""Executes ops in the user's interpreter: a plan, child processes, what they observed, and verdicts."""
