"""What stands behind the training panel, and goes on where that is not shown."""
