"""Intake: turn a submission into a Grid. Doubtful input gives warnings, errors carry JSON pointers. Pure functions."""

from registry.grids.intake.amendment import amend
from registry.grids.intake.faults import IntakeWarning, Limits
from registry.grids.intake.submission import Names, Submission, read_submission

__all__ = ["IntakeWarning", "Limits", "Names", "Submission", "amend", "read_submission"]
