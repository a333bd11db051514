"""What stands behind the compare panel."""
