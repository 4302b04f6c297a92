"""`python -m app` is the console script `briscola-scores`."""

from app.cli import main

if __name__ == "__main__":
    main()
