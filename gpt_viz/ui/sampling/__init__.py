"""What stands behind the sampling panel."""
