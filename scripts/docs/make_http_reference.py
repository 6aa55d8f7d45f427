#!/usr/bin/env python3
"""Writes docs/reference/http.md from docs/openapi.json.

    scripts/docs/make_http_reference.py [--check]

--check: writes nothing; exit code 1 if the page is out of date.
"""
import argparse
import json
import os
import sys

from generated_page import escape, table, write_or_check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.join(ROOT, "docs", "openapi.json")
PAGE = os.path.join(ROOT, "docs", "reference", "http.md")
METHODS = ("get", "put", "post", "delete")
LIMITS = (("minimum", "at least {}"), ("maximum", "at most {}"), ("minLength", "{} bytes or more"),
          ("maxLength", "{} bytes or fewer"), ("minItems", "{} or more"), ("pattern", "`{}`"))


def anchor(heading):
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


class Document:
    def __init__(self, document):
        self.document = document

    def follow(self, node):
        while "$ref" in node:
            place = self.document
            for key in node["$ref"].removeprefix("#/").split("/"):
                place = place[key]
            node = place
        return node

    def page(self):
        info = self.document["info"]
        text = f"# The HTTP API\n\n{info['description']}\n\n"
        text += ("This page is generated from [openapi.json](../openapi.json), which servers also "
                 "offer at `/openapi.json`; [serving](../serving.md) shows the API in use.\n\n")
        text += "## Operations\n\n" + self._overview() + "\n"
        for tag in self._tags():
            text += f"## {tag}: operations\n\n"
            for path, method, operation in self._operations():
                if operation["tags"][0] == tag:
                    text += self._operation(path, method, operation)
        text += self._errors()
        text += "## Bodies\n\nA key with a question mark is optional.\n\n"
        for name, schema in self.document["components"]["schemas"].items():
            text += self._schema(name, schema)
        return text.rstrip("\n") + "\n"

    def _operations(self):
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    operation = dict(item[method])
                    operation["parameters"] = [*item.get("parameters", []),
                                               *operation.get("parameters", [])]
                    yield path, method.upper(), operation

    def _tags(self):
        tags = []
        for _, _, operation in self._operations():
            if operation["tags"][0] not in tags:
                tags.append(operation["tags"][0])
        return tags

    def _overview(self):
        return table(("", "", "role"), [
            (f"`{method} {path}`", f"[{escape(op['summary'])}](#{anchor(op['summary'])})",
             op.get("x-role", "")) for path, method, op in self._operations()])

    def _operation(self, path, method, operation):
        text = f"### {operation['summary']}\n\n`{method} {path}`\n\n"
        if operation.get("description"):
            text += operation["description"] + "\n\n"
        rows = [(f"`{parameter['name']}`", self._type(parameter["schema"]),
                 self._said_of(parameter, parameter["schema"]))
                for parameter in map(self.follow, operation["parameters"])
                if parameter["in"] == "query"]
        if rows:
            text += table(("in the query", "type", ""), rows) + "\n"
        if "requestBody" in operation:
            text += f"Body: {self._content(operation['requestBody'])}.\n\n"
        answers, errors = [], []
        for status, response in operation["responses"].items():
            if "$ref" in response:
                errors.append(status)
            else:
                answers.append((status, escape(response["description"]), self._content(response)))
        text += table(("answer", "", "body"), answers) + "\n"
        numbers = ", ".join(status for status in errors if status != "default")
        also = " and those of any request" if "default" in errors else ""
        return text + (f"[Errors](#errors): {numbers}{also}.\n\n" if numbers else "")

    def _errors(self):
        """The error responses that operations share; each has one status."""
        statuses = {}
        for _, _, operation in self._operations():
            for status, response in operation["responses"].items():
                if "$ref" in response:
                    statuses[response["$ref"].rsplit("/", 1)[1]] = status
        rows = [("any" if statuses[name] == "default" else statuses[name],
                 escape(response["description"]))
                for name, response in self.document["components"]["responses"].items()]
        return ("## Errors\n\nTheir body is an [Error](#error).\n\n"
                + table(("status", ""), rows) + "\n")

    def _content(self, holder):
        parts = []
        for kind, value in holder.get("content", {}).items():
            shown = self._type(value["schema"])
            parts.append(shown if kind == "application/json" else f"{kind}")
        return " or ".join(parts)

    def _schema(self, name, schema):
        text = f"### {name}\n\n{escape(schema.get('description', ''))}\n\n"
        rows = self._rows(schema, "")
        if rows:
            text += table(("key", "type", "default", ""), rows) + "\n"
        else:
            limits = self._limits(schema)
            text += f"{self._type(schema, inline=True)}{': ' if limits else ''}{limits}\n\n"
        if "example" in schema:
            example = json.dumps(schema["example"], indent=2, ensure_ascii=False)
            text += f"```json\n{example}\n```\n\n"
        return text

    def _rows(self, schema, prefix):
        rows = []
        for key, value in schema.get("properties", {}).items():
            needed = key in schema.get("required", [])
            default = json.dumps(value["default"]) if "default" in value else ""
            rows.append((f"`{prefix}{key}`" + ("" if needed else " ?"), self._type(value),
                         f"`{default}`" if default else "", self._said_of(value, value)))
            if "$ref" not in value:
                rows += self._rows(value, f"{prefix}{key}.")
                if "$ref" not in value.get("items", {"$ref": ""}):
                    rows += self._rows(value["items"], f"{prefix}{key}[].")
        if "$ref" not in schema.get("items", {"$ref": ""}) and not prefix:
            rows += self._rows(schema["items"], "[].")
        return rows

    def _type(self, schema, inline=False):
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return f"[{name}](#{anchor(name)})"
        if "oneOf" in schema:
            return " or ".join(self._type(one) for one in schema["oneOf"])
        kind = schema.get("type", "anything")
        if "enum" in schema:
            kind = ", ".join(f"`{value}`" for value in schema["enum"])
        elif kind == "array":
            kind = "array of " + self._type(schema.get("items", {}))
        elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            kind = "object of " + self._type(schema["additionalProperties"])
        return kind + (" or null" if schema.get("nullable") else "")

    def _limits(self, schema):
        limits = []
        for key, words in LIMITS:
            if key in schema:
                if key == "minimum" and schema.get("exclusiveMinimum"):
                    words = "above {}"
                if key == "maximum" and schema.get("exclusiveMaximum"):
                    words = "below {}"
                limits.append(words.format(schema[key]))
        return ", ".join(limits).replace("|", "\\|")

    def _said_of(self, described, schema):
        text = escape(described.get("description", ""))
        limits = self._limits(schema)
        return f"{text} ({limits})" if limits else text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with open(SOURCE, encoding="utf-8") as file:
        text = Document(json.load(file)).page()
    return write_or_check(PAGE, text, options.check, "scripts/docs/make_http_reference.py")


if __name__ == "__main__":
    sys.exit(main())
