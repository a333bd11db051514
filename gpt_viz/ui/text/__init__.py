"""What the window does with texts: opens them, says what was read, shows what they are made of."""
