#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds JSON against docs/output.schema.json. Usage: schema.py NAME FILE [NAME FILE]...

NAME is the part of the schema that a file must meet, besides what the schema says of every output.
Prints what is wrong, ten lines at most. Exit status: 1 if something is.
"""
import json
import os
import sys

from jsonschema import Draft202012Validator

with open(os.path.join(os.path.dirname(__file__), "../docs/output.schema.json")) as file:
    schema = json.load(file)
Draft202012Validator.check_schema(schema)
wrong = []
for name, path in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(path) as file:
        rows = json.load(file)
    for part in (name, "rows"):
        check = Draft202012Validator({**schema, "$ref": "#/$defs/" + part})
        wrong += [f"{path}: {name}: {list(e.absolute_path)}: {e.message[:200]}"
                  for e in check.iter_errors(rows)]
for line in wrong[:10]:
    print(line)
sys.exit(bool(wrong))
