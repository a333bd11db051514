"""What stands behind the parameters panel."""
