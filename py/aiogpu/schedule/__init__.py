"""From the graph to steps: what one launch computes, and in which order."""
