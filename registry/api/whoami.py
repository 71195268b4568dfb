"""Identity of the caller: `registry whoami` asks for it, and so a token is tried before it is kept."""

from __future__ import annotations

from typing import Any

from flask import Response

from registry.api import examples, serializers
from registry.api.context import caller, parts
from registry.api.responses import json_answer
from registry.api.schemas import Empty
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.operations.auth import own_token

blp = Blueprint("identity", __name__, url_prefix=API_PREFIX, description="Who is calling.")


@blp.get("/whoami")
@blp.doc(operationId="whoami")
@blp.arguments(Empty, location="query")
@blp.answers(reply(200, "The token that was sent, without its secret", "Identity", example=examples.IDENTITY))
def whoami(_query: dict[str, Any]) -> Response:
    """Read the token that is sent

    Its name, its role, the project that it is for (null: all of them) and when it expires. 401 without a token.
    """
    with parts().database.reading() as connection:
        return json_answer(serializers.identity(own_token(connection, caller(connection))))
