"""Signatures, by vectors that were made without our code (openssl dgst -sha256 -mac HMAC)."""

from __future__ import annotations

from workers.webhooks.signing import sign

FIRST = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""The secret, message and signature that the specification's libraries test themselves with."""
SECOND = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
MESSAGE = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'


def test_a_signature_is_that_of_the_specification() -> None:
    assert sign([FIRST], *MESSAGE) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_each_secret_signs_and_a_space_is_between_them() -> None:
    both = "v1,O4Gjv1HqPqsMrjmczoggs/sWA8gZD0VyHG+fLh4+ktI= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign([SECOND, FIRST], *MESSAGE) == both
