"""How a view asks the engine: one question at a time, and only the newest one after it."""
