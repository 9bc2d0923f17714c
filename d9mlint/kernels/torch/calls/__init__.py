"""What a call in the sources of an extension means: functions of one name, methods, objects and members."""
