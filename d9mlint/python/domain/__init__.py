"""The abstract domain: values, the conditions under which they hold, the events that a program makes."""
