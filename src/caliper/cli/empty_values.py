"""The rule about empty values on the command line."""

from __future__ import annotations

from typing import Any

from caliper.core.errors import InvalidInput


def refuse_empty_values(command: Any) -> None:
    """Make a command, and those below it, raise InvalidInput for an empty value of an argument or
    option.

    A variable that the shell does not know is one. As a path it would be the working directory, and
    as a model the default. Where the default itself is empty, it means that nothing was given.
    """
    for parameter in command.params:
        if parameter.default != "":
            parameter.process_value = _NonEmptyCheck(parameter)
    for subcommand in getattr(command, "commands", {}).values():
        refuse_empty_values(subcommand)


class _NonEmptyCheck:
    """A parameter's `process_value`, which sees the text before it becomes a path."""

    def __init__(self, parameter: Any) -> None:
        self._parameter, self._process = parameter, parameter.process_value

    def __call__(self, context: Any, value: Any) -> Any:
        if value == "" or (isinstance(value, list | tuple) and "" in value):
            raise InvalidInput("the value is empty", field=self._field)
        return self._process(context, value)

    @property
    def _field(self) -> str:
        if self._parameter.param_type_name == "option":
            return str(self._parameter.opts[0])
        return str(self._parameter.display_name_raw)
