"""What can go wrong, and how it is told."""

from __future__ import annotations

from typing import NamedTuple, Sequence

__all__ = ["Error", "ModelError", "Problem", "SingularError"]


class Problem(NamedTuple):
    """Something wrong, suspicious or passed over in a model."""

    file: str
    line: int | None
    severity: str
    text: str

    def __str__(self) -> str:
        where = self.file + (f":{self.line}" if self.line is not None else "")
        return f"{where}: {self.severity}: {self.text}" if where else f"{self.severity}: {self.text}"


def problems_of(findings: Sequence[tuple[str, str, str]]) -> tuple[Problem, ...]:
    """Findings as the compiled part tells them: severity, "file:line", text."""
    result = []
    for severity, where, text in findings:
        file, colon, line = where.rpartition(":")
        if colon and line.isdigit():
            result.append(Problem(file, int(line), severity, text))
        else:
            result.append(Problem(where, None, severity, text))
    return tuple(result)


class Error(ValueError):
    """A call with wrong arguments; the message names the argument, what was given and what was expected.

    `states`: of many states, those without a result, where arguments of the first are not finite, counted over the
    leading dimensions; the results of all others are in `out`, where it was given."""

    states: tuple[int, ...] | None = None


class ModelError(Error):
    """A model that cannot be used; `problems` tells everything that was found."""

    problems: tuple[Problem, ...] = ()

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class SingularError(Error):
    """The arguments are right, but the result does not exist: a joint without inertia, say.

    `joint`: the name of the joint, where one is to blame. `states`: of many states, those that failed, as Error has
    it."""

    joint: str | None = None

    def __init__(self, message: str, reason: str = "", states: Sequence[int] | None = None, joint: str | None = None) -> None:
        super().__init__(f"{message} ({reason})" if reason else message)
        self.joint = joint
        if states is not None:
            self.states = tuple(states)
