"""The rules about kernel sources: each module judges a scan for the rule file of its name (``check_scan``)."""
