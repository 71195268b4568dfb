"""An OpenID provider as a place to sign in: authorization code with PKCE (RFC 7636; OpenID Connect Core 1.0, 3.1).

authlib is imported at the first sign-in only: it costs some 16 MiB, and most registries do without.
"""

import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from registry.api.request_policy import split
from registry.errors import NotInstalled, Unauthenticated, Unavailable
from registry.operations.users import Identity
from registry.settings import Settings

CALLBACK = "/sign-in/callback"
_SECONDS = 5.0
_KEPT_SECONDS = 3600.0
"""How long the provider's description and keys are kept."""
_KEYS_AGAIN_SECONDS = 10.0
"""Least time between two looks for keys that the provider may have made since."""
_CLOCKS_DIFFER = 60
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Signatures that are believed: those of the provider's own private key."""
_LONGEST_NAME, _MOST_GROUPS = 320, 200


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to sign in: what the browser keeps until it comes back, and nobody else has."""

    state: str
    nonce: str
    verifier: str
    back: str


def new_attempt(back: str) -> Attempt:
    """Attempt that leads back to a path of this registry."""
    return Attempt(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), back)


@lru_cache(maxsize=8)
def provider_of(settings: Settings) -> "Provider":
    """The one provider that these settings name, with what is known of it."""
    return Provider(settings)


class Provider:
    """What a provider says of itself, its keys, and the conversation with it. Threads share it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._metadata: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, Any] | None = None

    def address(self, attempt: Attempt) -> str:
        """Where the browser goes to sign in; `Unavailable` while the provider does not answer."""
        metadata = self.metadata()
        with self._session() as session:
            address, _ = session.create_authorization_url(
                metadata["authorization_endpoint"],
                state=attempt.state,
                code_verifier=attempt.verifier,
                nonce=attempt.nonce,
            )
        return str(address)

    def identity(self, code: str, attempt: Attempt) -> Identity:
        """User for whom the provider gave this code.

        Raises `Unauthenticated` when it refuses the code or tells nothing that can be believed, `Unavailable` when it
        does not answer.
        """
        from authlib.integrations.base_client import OAuthError
        from joserfc.errors import JoseError

        metadata = self.metadata()
        try:
            with self._session() as session:
                token = self._asked(
                    lambda: session.fetch_token(
                        metadata["token_endpoint"],
                        grant_type="authorization_code",
                        code=code,
                        code_verifier=attempt.verifier,
                        allow_redirects=False,
                    )
                )
                claims = dict(self._verified(token, attempt.nonce))
                if not {self._settings.oidc_user_claim, self._settings.oidc_groups_claim} <= claims.keys():
                    claims = self._with_user_info(session, metadata, claims)
        except OAuthError as error:
            raise Unauthenticated(f"The sign-in service refused: {error.error}. Sign in again.") from None
        except (JoseError, ValueError, KeyError) as error:
            raise Unauthenticated(
                f"The sign-in service's answer cannot be believed ({type(error).__name__})."
            ) from None
        return identity_of(claims, self._settings)

    def sign_out_address(self) -> str:
        """Where users end their visit at the provider too; "" where it has no such place or does not answer."""
        try:
            return str(self.metadata().get("end_session_endpoint", ""))
        except Unavailable:
            return ""

    def metadata(self) -> dict[str, Any]:
        """What the provider says of itself (OpenID Connect Discovery 1.0); kept for an hour."""
        with self._lock:
            if self._metadata is None or time.monotonic() - self._metadata[0] > _KEPT_SECONDS:
                issuer = self._settings.oidc_issuer.rstrip("/")
                found = self._read(f"{issuer}/.well-known/openid-configuration")
                if str(found.get("issuer", "")).rstrip("/") != issuer:
                    raise Unavailable(
                        f"The sign-in service at {issuer} calls itself by another name.", 60, "sign_in_provider"
                    )
                self._metadata = time.monotonic(), found
            return self._metadata[1]

    def _verified(self, token: Mapping[str, Any], nonce: str) -> Mapping[str, Any]:
        """Claims of the id token, once its signature, issuer, audience, times and nonce are good."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError

        metadata, settings = self.metadata(), self._settings
        offered = metadata.get("id_token_signing_alg_values_supported", ["RS256"])
        believed = [name for name in ALGORITHMS if name in offered]
        if not believed:  # an empty list would mean joserfc's own choice
            raise ValueError("The provider signs in no way that is believed.")
        try:
            read = jwt.decode(token["id_token"], self._signing_keys(), algorithms=believed)
        except (JoseError, ValueError):
            # It may be signed with a key that is newer than those we know.
            read = jwt.decode(token["id_token"], self._signing_keys(_KEYS_AGAIN_SECONDS), algorithms=believed)
        claims = CodeIDToken(
            read.claims,
            read.header,
            {
                "iss": {"essential": True, "value": metadata["issuer"]},
                "aud": {"essential": True, "value": settings.oidc_client_id},
            },
            {"nonce": nonce, "client_id": settings.oidc_client_id, "access_token": token.get("access_token")},
        )
        claims.validate(leeway=_CLOCKS_DIFFER)
        return claims  # type: ignore[no-any-return]

    def _signing_keys(self, kept: float = _KEPT_SECONDS) -> Any:
        from joserfc.jwk import KeySet

        address = self.metadata()["jwks_uri"]
        with self._lock:
            if self._keys is None or time.monotonic() - self._keys[0] > kept:
                self._keys = time.monotonic(), KeySet.import_key_set(self._read(address))  # type: ignore[arg-type]
            return self._keys[1]

    def _with_user_info(self, session: Any, metadata: Mapping[str, Any], claims: dict[str, Any]) -> dict[str, Any]:
        """The claims with those that the provider tells elsewhere; of another subject, none."""
        if "userinfo_endpoint" not in metadata:
            return claims
        told = self._asked(lambda: session.get(metadata["userinfo_endpoint"], allow_redirects=False))
        found = told.json() if told.status_code == 200 else {}
        return found | claims if isinstance(found, dict) and found.get("sub") == claims["sub"] else claims

    def _read(self, address: str) -> dict[str, Any]:
        """A JSON object of the provider; `Unavailable` when it gives none."""
        with self._session() as session:
            answer = self._asked(lambda: session.get(address, withhold_token=True, allow_redirects=False))
        try:
            found = answer.json() if answer.status_code == 200 else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise Unavailable(_AWAY.format(self._settings.oidc_issuer), 5, "sign_in_provider")
        return found

    def _asked(self, ask: Any) -> Any:
        import requests

        try:
            return ask()
        except requests.RequestException:
            raise Unavailable(_AWAY.format(self._settings.oidc_issuer), 5, "sign_in_provider") from None

    def _session(self) -> Any:
        try:
            from authlib.integrations.requests_client import OAuth2Session
        except ImportError:
            raise NotInstalled("Signing in by OpenID needs authlib: pip install authlib joserfc requests.") from None
        settings = self._settings
        return OAuth2Session(
            settings.oidc_client_id,
            settings.oidc_client_secret or None,
            scope=settings.oidc_scopes,
            redirect_uri=settings.url + CALLBACK,
            code_challenge_method="S256",
            default_timeout=_SECONDS,
        )


_AWAY = "The sign-in service at {} does not answer as it should. Try again, or sign in with a token."


def identity_of(claims: Mapping[str, Any], settings: Settings) -> Identity:
    """User whom these claims describe; `Unauthenticated` when they lack the name by which members are known."""
    name = claims.get(settings.oidc_user_claim)
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise Unauthenticated(f"The sign-in service does not tell your {settings.oidc_user_claim}.")
    if settings.oidc_user_claim == "email" and claims.get("email_verified") not in (True, "true"):
        raise Unauthenticated("The sign-in service has not verified your email address.")
    told = claims.get(settings.oidc_groups_claim, [])
    groups = split(told) if isinstance(told, str) else [one for one in told if isinstance(one, str)]
    return Identity(str(claims["iss"]), str(claims["sub"]), name, tuple(groups[:_MOST_GROUPS]))
