"""The types of what is computed: one module a document, and the codec that writes and reads them.

Workers fill these values; renderings, pages, commands and the facts of the schema `bi` read them; the components of the
OpenAPI document are generated from them. A field is written once: its name, its type, what it means, its unit and what
null means (`typing.Annotated`). Nothing here knows numpy, a database or HTTP.
"""
