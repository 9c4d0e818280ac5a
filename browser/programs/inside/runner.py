"""Runs a user's Python program: `runner.py <input file>`. Like runner.mjs, with the package `kernel`."""

import asyncio
import importlib.util
import inspect
import json
import os
import sys
import traceback


def answer(content):
    sys.stdout.flush()
    sys.stderr.flush()
    with os.fdopen(3, "w", encoding="utf-8") as answers:
        json.dump(content, answers)


def schema_of(annotation):
    """JSON Schema of a type hint; None if it has none. Pydantic comes with the package `kernel`."""
    if annotation is inspect.Parameter.empty or annotation is None:
        return None
    try:
        from pydantic import TypeAdapter

        schema = TypeAdapter(annotation).json_schema()
    except Exception:
        return None
    return {"$schema": "http://json-schema.org/draft-07/schema#", **as_draft_07(schema)} if schema else None


def as_draft_07(schema):
    text = json.dumps(schema).replace('"#/$defs/', '"#/definitions/')
    read = json.loads(text)
    if "$defs" in read:
        read["definitions"] = read.pop("$defs")
    return read


def described(action):
    hints = inspect.signature(action.handler, eval_str=True)
    parameters = list(hints.parameters.values())
    return {
        "name": action.name,
        "input_schema": schema_of(parameters[1].annotation) if len(parameters) > 1 else None,
        "output_schema": schema_of(hints.return_annotation),
    }


def main(given):
    os.chdir(given["folder"])
    place = os.path.join(given["folder"], given["entry"])
    sys.path[:0] = [os.path.dirname(place), given["folder"], os.path.join(given["folder"], ".python")]
    spec = importlib.util.spec_from_file_location("holdfast_program", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules["holdfast_program"] = module
    spec.loader.exec_module(module)
    from kernel.app_framework import KernelContext, app_registry

    if "action" not in given:
        return {
            "apps": [
                {"name": app.name, "actions": [described(action) for action in app.get_actions()]}
                for app in app_registry.get_apps()
            ]
        }
    app = app_registry.get_app_by_name(given["app"])
    action = None if app is None else app.get_action(given["action"])
    if action is None:
        raise LookupError(f"The program has no action {given['action']}")
    context = KernelContext(invocation_id=given["invocation_id"])
    payload = given["payload"]
    output = action.handler(context) if payload is None else action.handler(context, json.loads(payload))
    if inspect.isawaitable(output):
        output = asyncio.run(waited(output))
    if hasattr(output, "model_dump"):
        output = output.model_dump(mode="json")
    return {"output": None if output is None else json.dumps(output)}


async def waited(output):
    return await output


with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)
try:
    result = main(given)
except BaseException as error:
    traceback.print_exc()
    result = {"failed": f"{type(error).__name__}: {error}"}
answer(result)
os._exit(0)
