"""What a Briscola score is, and how it becomes a Nostr event: pure, no IO."""
