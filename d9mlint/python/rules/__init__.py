"""The Python halves of rules: each module adds ``check_program(program, rule)`` to the YAML file of its name."""
