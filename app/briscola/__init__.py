"""Briscola itself: cards, rules of every variant, shuffle and computer players. Pure: no IO, no clock."""
