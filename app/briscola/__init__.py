"""Briscola itself: cards, every variant, matches, shuffle and computer players. Pure: no IO, no clock."""
