"""Faults: a running registry is broken in every way that we know, and what it answered is held against what it kept.

A generator writes and reads, a seeded nemesis breaks, a history keeps what was sent and answered, and a checker that
uses only the public HTTP API says what was lost, stale, duplicated or wrong.
"""
