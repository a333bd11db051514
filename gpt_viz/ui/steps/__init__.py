"""What is known of the steps of a pass, for the panels that show them: shapes, step and attention."""
