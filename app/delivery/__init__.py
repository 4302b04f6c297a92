"""Getting signed events onto relays: decide purely, act in thin glue, lose nothing."""
