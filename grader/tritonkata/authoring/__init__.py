"""The author's side: the gate that a kata must pass, mutants of its solution, and the scaffold of a new one."""
