"""One file a panel; each is found by itself (see `ui.panel.find_panels`)."""
