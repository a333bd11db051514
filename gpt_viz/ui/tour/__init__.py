"""What stands behind the tour."""
