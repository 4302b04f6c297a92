"""Processes of this app that do one thing each for it: fed through a pipe, answering through another."""
