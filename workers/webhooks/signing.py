"""Signatures of what is sent, by Standard Webhooks 1.0 (https://www.standardwebhooks.com), symmetric (`v1`)."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence

SECRET_PREFIX = "whsec_"  # noqa: S105 (the beginning of every secret)


def sign(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: a signature by each secret, of which a receiver accepts any."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{b64encode(hmac.digest(_key(one), signed, 'sha256')).decode()}" for one in secrets)


def _key(secret: str) -> bytes:
    return b64decode(secret.removeprefix(SECRET_PREFIX))
