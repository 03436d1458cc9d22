"""Values that commands, flows and the store pass to each other: references to days and commits, deliveries, selections."""
