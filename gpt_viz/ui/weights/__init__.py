"""What stands behind the weights panel."""
