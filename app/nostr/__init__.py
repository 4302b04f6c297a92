"""Nostr: one small file per specification, pure."""
