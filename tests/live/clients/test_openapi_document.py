"""The OpenAPI document as programs of others read it: valid, and the same by YAML 1.2 as by JSON."""

from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator
from ruamel.yaml import YAML

from registry.api.openapi import openapi_yaml
from tests.house import House

NUMBERS = (
    *("0193", "1e3", "0o17", "0x1f", "0b1", ".5", "1.", "-0", "+1", "1_000", "1:20", ".inf"),
    *("yes", "~", "null", ""),
)


def test_both_views_are_valid_openapi_3_1(house: House) -> None:
    for view in ("whole", "client"):
        document = house.call("GET", f"/openapi.json?view={view}").get_json()
        assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_every_string_of_it_is_one_by_yaml_1_2_too(house: House) -> None:
    app = Flask(__name__)
    app.extensions["openapi"] = house.call("GET", "/openapi.json").get_json() | {"strings": [*NUMBERS]}
    assert YAML(typ="safe", pure=True).load(openapi_yaml(app)) == app.extensions["openapi"]
