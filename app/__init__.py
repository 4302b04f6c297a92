"""Briscola scores: signed score events, their delivery to relays, and what a reader needs to trust them."""
