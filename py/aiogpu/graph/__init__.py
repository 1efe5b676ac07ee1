"""The expression graph: what was asked for, before anything is computed."""
