"""The settings of everything that runs; no secret of theirs is ever printed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    ValidationInfo,
    field_validator,
)

from app import config_values as values
from app import jwt_trust, secret_file
from app.nostr.keys import SecretKey
from app.nostr.relay_url import public_relay_url
from app.scores.score_event import DEFAULT_RELAY, SEED_PUBKEY
from app.secret_file import SECRET, SECRET_FILE

PREFIX = "BRISCOLA_"
PUBLIC_KEYS = f"{PREFIX}PUBLIC_KEYS"


class EnvironmentSettings(BaseModel):
    """Settings read from the environment, each under its name with the prefix."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        alias_generator=lambda name: PREFIX + name.upper(),
    )

    @classmethod
    def prepare(cls, given: dict[str, str]) -> tuple[list[str], list[str]]:
        """Complete the texts of all settings, which come by name; gives faults and warnings."""
        return [], []

    def warnings(self) -> list[str]:
        """What works but should be looked at."""
        return []


class ClientSettings(EnvironmentSettings):
    """What `publish --server` signs in with."""

    api_key: str | None = Field(
        None, repr=False, exclude=True, description="Client side: the API key that `publish --server` sends."
    )
    player_key: Annotated[InstanceOf[SecretKey], BeforeValidator(SecretKey.parse)] | None = Field(
        None,
        repr=False,
        exclude=True,
        description="Client side: the player's own secret key that `publish --server` signs in with.",
    )


class LogSettings(EnvironmentSettings):
    """What is logged, and how."""

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least that is logged."
    )
    log_format: Literal["text", "json"] = Field("text", description="text for people, json for machines.")


class StoreSettings(LogSettings):
    """What a command needs that works on the store alone."""

    database_url: Annotated[str, BeforeValidator(values.database_url)] = Field(
        "sqlite:///briscola-scores.db", repr=False, description="Where scores and deliveries are kept."
    )


class ReadingSettings(EnvironmentSettings):
    """Whose scores are read, and from where."""

    public_keys: Annotated[tuple[str, ...], BeforeValidator(values.public_keys)] = Field(
        (),
        description="Older public keys of the app whose scores still verify, hex or npub, by commas.",
    )
    relays: Annotated[tuple[str, ...], BeforeValidator(values.relays)] = Field(
        (DEFAULT_RELAY,), repr=False, exclude=True, description="The relays that get every score, by commas."
    )

    @property
    def public_relays(self) -> tuple[str, ...]:
        """Where anybody may read: the relays without their queries, which may hold tokens."""
        return tuple(dict.fromkeys(map(public_relay_url, self.relays)))


class WebSettings(LogSettings, ReadingSettings):
    """What anything needs that reads the relays and answers over HTTP."""

    public_url: Annotated[str, BeforeValidator(values.public_url)] | None = Field(
        None, description="The address under which clients reach the service; http://HOST:PORT if unset."
    )
    trusted_proxies: Annotated[tuple[values.Network, ...], BeforeValidator(values.networks)] = Field(
        (), description="Proxies whose X-Forwarded-For is believed: addresses or ranges, by commas."
    )
    rate_limit: Annotated[str, AfterValidator(values.rate)] | None = Field(
        None,
        description="How often one caller may call; unset, 60/minute for players, any number for API keys.",
    )
    rate_limit_per_key: Annotated[str, AfterValidator(values.rate)] | None = Field(
        None, description="How often one API key may call, if that differs; off for any number."
    )
    rate_limit_per_address: Annotated[str, AfterValidator(values.rate)] = Field(
        "600/minute", description="How often one address may call, but for calls with an API key."
    )
    rate_limit_storage: Annotated[str, BeforeValidator(values.storage)] = Field(
        "memory",
        repr=False,
        exclude=True,
        description="Where calls are counted: memory, or a Redis for several replicas.",
    )


class MirrorSettings(WebSettings):
    """What a read-only mirror of somebody's scores runs with: no secret and no database."""

    public_keys: Annotated[
        tuple[str, ...], BeforeValidator(values.public_keys), AfterValidator(values.at_least_one_key)
    ]

    @classmethod
    def prepare(cls, given: dict[str, str]) -> tuple[list[str], list[str]]:
        """Warn of a secret, which has no business here and is not read."""
        unread = (name for name in (SECRET, SECRET_FILE) if name in given)
        return [], [f"{name}: is not read by a mirror, which signs nothing: unset it here" for name in unread]

    def warnings(self) -> list[str]:
        """What works but should be looked at."""
        if SEED_PUBKEY not in self.public_keys:
            return []
        return [f"{PUBLIC_KEYS}: anyone can sign for {SEED_PUBKEY[:8]}..., whose secret key is 1"]

    @property
    def score_policy(self) -> None:
        """Which scores are published is known to those alone who sign them."""

    @property
    def pubkey(self) -> str:
        """The x-only public key, hex, that signs now: the first one."""
        return self.public_keys[0]

    @property
    def verifying_keys(self) -> frozenset[str]:
        """Every x-only public key, hex, whose scores count as this app's."""
        return frozenset(self.public_keys)


class Settings(StoreSettings, WebSettings):
    """What the service runs with; the secret key prints as nothing that helps a thief."""

    # Before the secret key, whose check asks for it.
    allow_insecure_key: Annotated[bool, BeforeValidator(values.switch)] = Field(
        default=False, description="1 signs even with the key that everybody knows; for tests."
    )
    secret_key: Annotated[InstanceOf[SecretKey], BeforeValidator(SecretKey.parse)] = Field(
        repr=False, exclude=True, description="The app's secret key: 64 hex digits or an nsec."
    )
    secret_key_file: str | None = Field(
        None, repr=False, description="A file that holds the secret key, instead of the setting above."
    )
    score_policy: Literal["latest", "best"] = Field(
        "latest", description="latest publishes every score, best only improvements."
    )
    require_proof: Annotated[bool, BeforeValidator(values.switch)] = Field(
        default=False, description="1 lets players publish what they played here alone; API keys may publish."
    )
    publish_transcripts: Annotated[bool, BeforeValidator(values.switch)] = Field(
        default=True, description="0 keeps the transcripts of matches from the relays."
    )
    match_expiry: int = Field(
        86_400, ge=60, le=31_536_000, description="Seconds for which a match may rest before it is forfeited."
    )
    cors_origins: Annotated[frozenset[str], BeforeValidator(values.origins)] = Field(
        frozenset(), description="The sites whose pages may sign in from a browser, by commas."
    )
    jwt_issuer: str | None = Field(
        None, description="The identity provider whose tokens sign players in: their claim `iss`."
    )
    jwt_audience: str | None = Field(None, description="What the tokens' claim `aud` must be or hold.")
    jwt_jwks_url: Annotated[str, BeforeValidator(jwt_trust.check_jwks_url)] | None = Field(
        None, description="Where the identity provider publishes its keys (JWKS)."
    )
    jwt_username_claim: str | None = Field(
        None, description="The claim that names the player, such as preferred_username."
    )

    @classmethod
    def prepare(cls, given: dict[str, str]) -> tuple[list[str], list[str]]:
        """Read the secret from its file, if it is in one."""
        faults, warnings = secret_file.read(given)
        return faults + jwt_trust.incomplete(given), warnings

    def warnings(self) -> list[str]:
        """What works but should be looked at."""
        return jwt_trust.unsafe(self.jwt)

    @field_validator("secret_key")
    @classmethod
    def _refuse_the_known_key(cls, key: SecretKey, info: ValidationInfo) -> SecretKey:
        if key.is_public_knowledge and not info.data.get("allow_insecure_key"):
            raise ValueError(
                "this key is known to everybody, so anyone could sign scores in your name: "
                "make one of your own with `briscola-scores keygen`"
            )
        return key

    @property
    def jwt(self) -> jwt_trust.JwtTrust | None:
        """The identity provider, if one is configured; `load` lets its settings pass all or none."""
        match self.jwt_issuer, self.jwt_audience, self.jwt_jwks_url, self.jwt_username_claim:
            case str(issuer), str(audience), str(jwks_url), str(username_claim):
                return jwt_trust.JwtTrust(issuer, audience, jwks_url, username_claim)
        return None

    @property
    def pubkey(self) -> str:
        """The x-only public key, hex, that signs."""
        return self.secret_key.pubkey

    @property
    def verifying_keys(self) -> frozenset[str]:
        """Every x-only public key, hex, whose scores count as this app's."""
        return frozenset({*self.public_keys, self.pubkey})
