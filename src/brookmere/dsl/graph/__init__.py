"""The program as a graph of steps, its optimisation rules, and how it becomes a topology."""
