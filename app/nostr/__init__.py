"""The Nostr protocol as pure functions and values: one small file per specification, no IO."""
