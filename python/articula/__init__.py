"""Articula: dynamics of jointed bodies by the spatial operator algebra.

    import articula
    arm = articula.load("arm7")
    a = arm.forward_dynamics(q, v, tau)

Names, order, signs and errors are those of the C++ library and the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, _errors

_core._use_errors({name: getattr(_errors, name) for name in ("Error", "ModelError", "SingularError")})

from . import _arrays, results  # noqa: E402
from ._core import algorithms  # noqa: E402
from ._errors import Error, ModelError, Problem, SingularError  # noqa: E402
from ._load import check, load, shipped_models  # noqa: E402
from ._model import Body, Frame, Joint, Limits, Model, NamedState  # noqa: E402

_core._use(_arrays.call, results.by_algorithm)

if TYPE_CHECKING:
    from . import controllers, convert, cuda, operators
    from .derivatives import LinearizedStep, SecondOrder, StepDerivative
    from .motion import MonteCarlo, Rollout, monte_carlo, rollout, simulate, sweep
    from .recording import Recording, View, view
    from .scenes import Scene
    from .spaces import Count, Counts, DiagonalizedDynamics, Regulator, TaskController, TaskSpace, count, lqr, state_space
    from .spec import FrameSpec, JointSpec, LinkSpec, ModelSpec
    from .tables import DhRow, DhTable, MassProperties, ScrewChain, ScrewLink, mass_properties, spec_of

__version__ = "0.1.0"
__all__ = [
    "Body", "Count", "Counts", "DhRow", "DhTable", "DiagonalizedDynamics", "Error", "Frame", "FrameSpec", "Joint", "JointSpec",
    "Limits", "LinearizedStep", "LinkSpec", "MassProperties", "Model", "ModelError", "ModelSpec", "MonteCarlo", "NamedState",
    "Problem", "Recording", "Regulator", "Rollout", "Scene", "ScrewChain", "ScrewLink", "SecondOrder", "SingularError",
    "StepDerivative", "TaskController", "TaskSpace", "View", "algorithms", "check", "controllers", "convert", "count", "cuda",
    "load", "lqr", "mass_properties", "monte_carlo", "operators", "results", "rollout", "shipped_models", "simulate", "spec_of", "sweep",
    "state_space", "view",
]  # fmt: skip

# What takes time to import, and where it is.
_later = {
    **dict.fromkeys(("FrameSpec", "JointSpec", "LinkSpec", "ModelSpec"), "spec"),
    **dict.fromkeys(("Recording", "View", "view"), "recording"),
    **dict.fromkeys(("MonteCarlo", "Rollout", "monte_carlo", "rollout", "simulate", "sweep"), "motion"),
    **dict.fromkeys(("Count", "Counts", "DiagonalizedDynamics", "Regulator", "TaskController", "TaskSpace", "count", "lqr", "state_space"), "spaces"),
    **dict.fromkeys(("LinearizedStep", "SecondOrder", "StepDerivative"), "derivatives"),
    **dict.fromkeys(("DhRow", "DhTable", "MassProperties", "ScrewChain", "ScrewLink", "mass_properties", "spec_of"), "tables"),
    "Scene": "scenes",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in ("controllers", "convert", "cuda", "operators") or name in _later.values():
        return import_module("." + name, __name__)
    if name in _later:
        return getattr(import_module("." + _later[name], __name__), name)
    raise AttributeError(f"module 'articula' has no attribute '{name}'")
