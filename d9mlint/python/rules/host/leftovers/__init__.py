"""What an earlier run has left: files, folders, databases and states that the next one goes on from."""
