"""The public functions, by category of the Array API standard."""
