"""What crosses between processes, and the walls around the untrusted ones."""
