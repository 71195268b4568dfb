"""Files that have the names of modules the registry imports, as somebody may have them beside a training script."""

from pathlib import Path

NAMES = ("registry", "migrations", "celery", "celeryconfig", "redis", "numpy")
STANDARD = ("statistics", "logging")
"""Names of the standard library, which no script can live beside."""
PACKAGES = ("workers", "kombu")
IMPORTED = "imported.txt"


def lay(directory: Path, standard: tuple[str, ...] = STANDARD) -> Path:
    """Put namesakes into a directory; each fails when it is imported, and leaves its name in the file `IMPORTED`."""
    told = directory / IMPORTED
    text = f"open({str(told)!r}, 'a').write(__name__ + ' ')\nraise RuntimeError(__name__ + ' is a namesake')\n"
    directory.mkdir(exist_ok=True)
    for name in PACKAGES:
        (directory / name).mkdir()
    for file in [*(f"{name}.py" for name in (*NAMES, *standard)), *(f"{name}/__init__.py" for name in PACKAGES)]:
        (directory / file).write_text(text)
    return directory


def imported(directory: Path) -> str:
    """Which of them were imported."""
    told = directory / IMPORTED
    return told.read_text() if told.exists() else ""
