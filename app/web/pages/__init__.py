"""The pages for people: HTML from templates here, scripts from `../js`, bundled by `../build.py`."""
