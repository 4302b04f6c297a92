"""The HTTP door: a Starlette application, its endpoints and its errors."""
