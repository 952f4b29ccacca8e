"""Write a tympan add-on in Python: describe it, check its config, do the work.

The module that componentize-py builds needs two names, which `component` makes:

    Manifest, Transform = component(name="greeting", version="1.0.0", ..., process=process)

Every exception becomes an error of the add-on, with its text: nothing ends as a trap that says
"unreachable".
"""

import json
from dataclasses import dataclass
from typing import Any, Callable, Optional

from componentize_py_types import Err
from wit_world.exports import manifest as contract
from wit_world.imports import runtime
from wit_world.imports.types import AddonError, AddonOutput, JobContext, Transcript

Level = runtime.Level


class Fail(Exception):
    """Ends the call with an error for the API client: 4xx blames the request, 5xx the add-on."""

    def __init__(self, status_code: int, exception: str, message: str):
        super().__init__(message)
        self.status_code = status_code
        self.exception = exception
        self.message = message


class BadConfig(Exception):
    """Refuses a config. The pointer is a JSON Pointer into it; the message starts with "must"."""

    def __init__(self, pointer: str, message: str):
        super().__init__(message)
        self.pointer = pointer
        self.message = message


@dataclass
class Output:
    """What `process` returns when it changes the transcript; a bare value is a result alone."""

    result: Any = None
    transcript: Optional[Transcript] = None


def log(message: str, level: Level = Level.INFO) -> None:
    """One line for the author; the operator of the service sees its length only."""
    runtime.log(level, message)


def accepted_at_ms() -> int:
    """Milliseconds since 1970 at which the job was accepted: the only clock of a recorded job."""
    return runtime.unix_millis()


def component(
    *,
    name: str,
    version: str,
    slot: str,
    summary: str,
    process: Callable[[dict, JobContext, Transcript], Any],
    config_schema: Optional[dict] = None,
    result_schema: Optional[dict] = None,
    check_config: Callable[[dict], dict] = lambda config: config,
    after: tuple = (),
    requires: tuple = (),
    effects: tuple = (),
):
    """The two classes that the contract asks for. Without a `config_schema` there is no config."""

    class Manifest:
        def describe(self) -> contract.Descriptor:
            return contract.Descriptor(
                name=name,
                version=version,
                summary=summary,
                request_flag=name,
                config_key=f"{name}_config" if config_schema else None,
                config_schema=json.dumps(config_schema or {"type": "object"}),
                result_schema=json.dumps(result_schema) if result_schema else None,
                slot=slot,
                modes=["pre-recorded", "post-processing"],
                effects=list(effects),
                after=list(after),
                requires=list(requires),
                capabilities=[],
                extra="{}",
            )

        def validate_config(self, config: str) -> str:
            try:
                return json.dumps(check_config(json.loads(config)))
            except BadConfig as bad:
                raise Err([contract.ConfigProblem(bad.pointer, bad.message)])
            except (Exception, SystemExit) as error:
                failed = f"must be one that check_config can check: {type(error).__name__}: {error}"
                raise Err([contract.ConfigProblem("", failed)])

    class Transform:
        def process(self, ctx: JobContext, input: Transcript) -> AddonOutput:
            try:
                output = process(json.loads(ctx.config), ctx, input)
                if not isinstance(output, Output):
                    output = Output(result=output)
                result = None if output.result is None else json.dumps(output.result, allow_nan=False)
                return AddonOutput(output.transcript, result, [])
            except Fail as fail:
                raise Err(AddonError(fail.status_code, fail.exception, fail.message))
            except (Exception, SystemExit) as error:
                raise Err(AddonError(500, type(error).__name__, str(error)))

    return Manifest, Transform
