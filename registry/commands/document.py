"""`registry openapi`: the OpenAPI document of the HTTP interface."""

from __future__ import annotations

import click

from registry import create_app
from registry.api.openapi import openapi_yaml
from registry.settings import Settings


@click.command()
@click.option("--client", is_flag=True, help="As generators of clients read it, as ?view=client does.")
def openapi(*, client: bool) -> None:
    """Print the OpenAPI document as YAML."""
    click.echo(openapi_yaml(create_app(Settings()), client=client), nl=False)
