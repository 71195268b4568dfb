"""Sentences read as claims by rules: what a rule does not cover whole stays unparsed."""
