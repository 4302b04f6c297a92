"""Briscola scores: signed score events, their delivery to relays, and everything a reader needs to trust them."""
