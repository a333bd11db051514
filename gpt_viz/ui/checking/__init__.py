"""What stands behind the checks panel."""
