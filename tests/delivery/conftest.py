import pytest

from app.delivery.session import Session
from tests.delivery.conversation import RELAY, Signer


@pytest.fixture
def signer() -> Signer:
    return Signer()


@pytest.fixture
def session(signer: Signer) -> Session:
    return Session(RELAY, signer)
