"""Motion over time: simulate, rollout, monte_carlo, sweep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence, Union

from . import _core, _device, controllers as _controllers
from ._arrays import as_array, common_shape, rows
from ._errors import Error
from ._model import Model
from .recording import Columns, Recording, flag, model_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .scenes import Scene

    _Function = Callable[[float, NDArray[np.float64], NDArray[np.float64]], ArrayLike]
    _Controller = Union[_Function, tuple[_Function, float], _controllers.Controller]
    _Event = Callable[[float, NDArray[np.float64], NDArray[np.float64]], float]
    _Distributions = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]

__all__ = ["MonteCarlo", "Rollout", "monte_carlo", "rollout", "simulate", "sweep"]


def vector(function: str, name: str, x: Any, size: int, default: Any = None) -> Any:
    """One vector of float64, or the default where nothing is given."""
    import numpy as np

    if x is None:
        return np.zeros(size) if default is None else default
    array = as_array(function, name, x)
    if array.shape != (size,):
        raise Error(f"{function}: {name} has shape {array.shape}; expected ({size},)")
    return np.require(array, np.float64, ["C", "A"]).view(np.ndarray)


def number(function: str, name: str, x: Any) -> float:
    """One number."""
    try:
        return float(x)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{function}: {name} is {x!r}; expected a number") from None


def whole(function: str, name: str, x: Any, least: int, most: int = 2**31 - 1) -> int:
    """One whole number."""
    import operator

    try:
        found = operator.index(x)
    except TypeError:
        found = least - 1
    if not least <= found <= most or isinstance(x, bool):
        raise Error(f"{function}: {name} is {x!r}; expected a whole number from {least} to {most}")
    return found


def word(function: str, name: str, x: Any) -> str:
    """One name."""
    if not isinstance(x, str):
        raise Error(f"{function}: {name} is of type {type(x).__name__}; expected a name")
    return x


def _plain(x: Any) -> Any:
    """An array as the compiled part takes it: one that was pickled has a dtype of its own."""
    import numpy as np

    return np.require(x, np.float64, ["C", "A"]) if isinstance(x, np.ndarray) else x


class _Progress:
    """Told on a terminal or in a notebook, once the work turns out to take long; removes itself at the end."""

    def __init__(self, what: str, wanted: bool) -> None:
        import time

        self.what, self.start, self.shown, self.clock = what, time.monotonic(), False, time.monotonic
        self.wanted = flag(what, "progress", wanted) and (sys.stderr.isatty() or "ipykernel" in sys.modules)

    def __enter__(self) -> _Progress | None:
        return self if self.wanted else None

    def __exit__(self, *_: object) -> None:
        if self.shown:
            print("\r" + " " * (len(self.what) + 8) + "\r", end="", file=sys.stderr, flush=True)

    def __call__(self, part: float) -> None:
        if self.clock() - self.start > 1:
            print(f"\r{self.what}: {100 * part:3.0f} %", end="", file=sys.stderr, flush=True)
            self.shown = True


def _listed(function: str, model: Model, controllers: Any) -> list[tuple[Any, ...]]:
    """The controllers as the compiled part takes them."""
    if callable(controllers) or isinstance(controllers, _controllers.KINDS):
        controllers = [controllers]
    if not isinstance(controllers, (list, tuple)):
        raise Error(f"{function}: controllers is of type {type(controllers).__name__}; expected a controller or a list of them")
    listed: list[tuple[Any, ...]] = []
    for entry in controllers:
        made = _controllers.as_listed(function, entry, model)
        if made is None:
            f, period = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
            if not callable(f):
                raise Error(f"{function}: a controller is of type {type(f).__name__}; expected a function f(time, q, v) -> tau")

            def checked(t: float, q: Any, v: Any, f: Any = f) -> Any:
                return vector(function, "a controller's tau", f(t, q, v), model.nv)

            made = "function", checked, period
        kind, f, period, *rest = made
        listed.append((kind, f, None if period is None else number(function, "a controller's period", period), *rest))
    return listed


def _events(function: str, events: Any) -> list[Any]:
    listed = [events] if callable(events) else events
    if not isinstance(listed, (list, tuple)) or not all(callable(event) for event in listed):
        raise Error(f"{function}: events is {events!r}; expected functions f(time, q, v) of a number")
    return [lambda t, q, v, f=f: number(function, "an event's value", f(t, q, v)) for f in listed]


def _mechanism(function: str, model: Any) -> tuple[Model, Scene | None]:
    """What moves, and the scene that it is of."""
    from .scenes import Scene as SceneClass

    return (model.model, model) if isinstance(model, SceneClass) else (model_of(function, model), None)


def simulate(
    model: Model | Scene,
    *,
    duration: float,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    step: float = 1e-3,
    every: float = 1e-2,
    integrator: str = "rk4",
    velocities: str = "v",
    damping: bool = False,
    friction: bool = False,
    limits: str = "none",
    restitution: float = 0.0,
    controllers: _Controller | Sequence[_Controller] = (),
    events: _Event | Sequence[_Event] = (),
    progress: bool = True,
) -> Recording:
    """The motion of a model (with the loops of its file), or of a scene's closed chains, from (q, v) on, `tau` held and controllers' forces added.

    q, v, tau: where it begins; a model's neutral configuration at rest without forces, or a scene's own state.
    A controller is a function f(time, q, v) -> tau, asked at every evaluation; a pair (f, period), asked every `period`
    seconds and held in between; or one of `articula.controllers`. integrator: "euler", "symplectic_euler", "rk4",
    "rk45", "variational", "midpoint" or "cvode". velocities: "v", or "nu" or "xi" of the diagonalized equations, which then
    are integrated; open chains only, and what is recorded is the same. damping, friction: what the model's joints state acts, as with
    --damping and --friction. limits: "none", "stiff", or, with rk45, "events", where joints bounce with
    `restitution`. events: functions f(time, q, v) of a number; the motion ends where one changes its sign, which is
    looked at after every step (rk45, cvode: every row). A row is recorded every `every` seconds.

    Example:
        >>> arm = articula.load("arm7")
        >>> held = articula.simulate(arm, duration=0.1, controllers=lambda t, q, v: arm.gravity_forces(q))
        >>> bool(np.max(np.abs(held.v)) < 1e-9)
        True
        >>> fall = articula.simulate(arm, duration=9, q=np.full(7, 0.3), events=lambda t, q, v: 1.0 - q[1])
        >>> round(float(fall.q[-1, 1]), 12), fall.ended_by
        (1.0, 0)
    """
    mechanism, scene = _mechanism("simulate", model)
    names = word("simulate", "integrator", integrator), word("simulate", "limits", limits), word("simulate", "velocities", velocities)
    times = tuple(number("simulate", name, x) for name, x in (("duration", duration), ("step", step), ("every", every)))
    at = mechanism.neutral() if scene is None else scene.q
    state = (
        vector("simulate", "q", q, mechanism.nq, at),
        vector("simulate", "v", v, mechanism.nv, None if scene is None else scene.v),
        vector("simulate", "tau", tau, mechanism.nv, None if scene is None else scene.tau),
    )
    bounce = number("simulate", "restitution", restitution)
    acting = flag("simulate", "damping", damping), flag("simulate", "friction", friction)
    listed, ends = _listed("simulate", mechanism, controllers), _events("simulate", events)
    closed = None if scene is None else scene._scene
    with _Progress("simulate", progress) as told:
        recorded, event = _core._simulate(mechanism, closed, names[0], names[2], *times, *state, *acting, names[1], bounce, listed, ends, told)
    columns, about, numbers = recorded
    return Recording(columns, about, numbers, mechanism, closed, event if event >= 0 else None)


class Rollout(NamedTuple):
    """Trajectories: q has shape (..., times, nq), v (..., times, nv); the start is not among them."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]


def _some_rollouts(model: Model, scene: Scene | None, settings: Sequence[Any], threads: int, q: Any, v: Any, tau: Any = None, told: Any = None) -> Any:
    return _core._rollout(model, None if scene is None else scene._scene, len(q), _plain(q), _plain(v), _plain(tau), *settings, threads, told)


def rollout(
    model: Model | Scene,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    step: float = 1e-3,
    steps: int = 1,
    every: int = 1,
    integrator: str = "rk4",
    damping: bool = False,
    threads: int | None = None,
    executor: Any = None,
    progress: bool = True,
) -> Rollout:
    """Many trajectories at once, `steps` steps each, of which every `every`th state is kept.

    q: shape (..., nq), v: (..., nv), tau: (..., nv) held, or (..., steps, nv) a force for each step (as many
    dimensions as q and v have, and one more). Arrays on a GPU are moved there, all at once, and so are the results
    (docs/gpu.md). Closed chains (a scene's, or those of a model's file) stay closed; starts must fit them, as
    `Scene.project` makes them. executor: whose workers make them, as of monte_carlo.

    Example:
        >>> arm = articula.load("arm7")
        >>> articula.rollout(arm, arm.random(1, 100), np.zeros(7), steps=10, every=5).q.shape
        (100, 2, 7)
    """
    import numpy as np

    model, scene = _mechanism("rollout", model)
    steps, every = whole("rollout", "steps", steps, 1), whole("rollout", "every", every, 1)
    count_of_threads = 0 if threads is None else whole("rollout", "threads", threads, 1, 1024)
    integrator = word("rollout", "integrator", integrator)
    given = {"q": q, "v": v} | ({} if tau is None else {"tau": tau})
    if any(_device.lives_on_gpu(x) for x in given.values()):
        if scene is not None:
            raise Error("rollout: closed chains move on the processor; give arrays that are not on a GPU")
        return Rollout(*_device.rollout(model, given, number("rollout", "step", step), steps, every, integrator, flag("rollout", "damping", damping)))
    arrays: list[tuple[str, Any, tuple[int, ...]]] = [("q", as_array("rollout", "q", q), (model.nq,)), ("v", as_array("rollout", "v", v), (model.nv,))]
    leading = common_shape("rollout", [(name, x.shape, last) for name, x, last in arrays])
    last: tuple[int, ...] = (model.nv,)
    if tau is not None:
        forces = as_array("rollout", "tau", tau)
        if forces.ndim == len(leading) + 2:
            last = (steps, model.nv)
        arrays.append(("tau", forces, last))
        leading = common_shape("rollout", [(name, x.shape, n) for name, x, n in arrays])
    count = int(np.prod(leading))
    plain = [rows(x, leading, n, np.float64).reshape(count, *n) for _, x, n in arrays]
    settings = len(last) == 2, number("rollout", "step", step), steps, every, integrator, flag("rollout", "damping", damping)
    with _Progress("rollout", progress) as told:
        if executor is None:
            q_path, v_path = _some_rollouts(model, scene, settings, count_of_threads, plain[0], plain[1], plain[2] if tau is not None else None, told)
        else:
            from ._executors import blocks_of, share_out

            pieces = [tuple(x[first : first + n] for x in plain) for first, n in blocks_of(count)]
            parts = share_out("rollout", executor, _some_rollouts, [model, scene, settings, count_of_threads or 1], pieces, told)
            q_path, v_path = (np.concatenate([part[i] for part in parts]) for i in (0, 1)) if parts else (np.zeros(0), np.zeros(0))
    shape = *leading, steps // every
    return Rollout(q_path.reshape(*shape, model.nq), v_path.reshape(*shape, model.nv))


class MonteCarlo(Columns):
    """What many runs gave, at their ends: `result["draw:q:joint1"]`, `result["q:joint1"]`, .. have a number for each run; in notebooks a
    table of all columns.

    `errors`: messages of the runs that failed, by their numbers; the rows of these are NaN, but for what was drawn.
    """

    def __init__(self, columns: Sequence[str], numbers: NDArray[np.float64], errors: Mapping[int, str]) -> None:
        try:
            names, self.errors = [str(name) for name in columns], {int(run): str(text) for run, text in dict(errors).items()}
        except (TypeError, ValueError):
            raise Error("MonteCarlo: columns are names, errors texts by number") from None
        super().__init__(names, numbers, "runs")

    @property
    def draws(self) -> NDArray[np.float64]:
        """What was drawn, shape (runs, draws)."""
        return self._starting("draw:")

    def __repr__(self) -> str:
        return f"<articula.MonteCarlo: {len(self)} runs, {len(self.errors)} failed, {len(self._places)} columns>"

    def _repr_html_(self) -> str:
        import html

        import numpy as np

        lines = []
        for name, x in zip(self._places, self._numbers.T):
            good = x[np.isfinite(x)]
            told = [good.mean(), good.std(), good.min(), good.max()] if good.size else [np.nan] * 4
            lines.append(f"<tr><th>{html.escape(name)}</th>" + "".join(f"<td>{number:.5g}</td>" for number in told) + "</tr>")
        head = "<tr><th></th><th>mean</th><th>deviation</th><th>least</th><th>largest</th></tr>"
        return f"<p>{len(self)} runs, {len(self.errors)} failed</p><table>{head}{''.join(lines)}</table>"


def _distributions(given: Any) -> list[tuple[str, str, bool, float, float]]:
    form = 'expected {"q": {"JOINT": {"normal": (mean, deviation)}}} or {"uniform": (least, largest)}'
    listed = []
    try:
        # In the order of the names, as the command line's JSON has them: the same draws.
        for section, entries in sorted(dict(given).items(), key=lambda pair: pair[0]):
            for name, entry in sorted(dict(entries).items(), key=lambda pair: pair[0]):
                ((kind, (a, b)),) = dict(entry).items()
                if kind not in ("normal", "uniform"):
                    raise ValueError
                listed.append((word("monte_carlo", "section", section), word("monte_carlo", "name", name), kind == "normal", float(a), float(b)))
    except (TypeError, ValueError, OverflowError):
        raise Error(f"monte_carlo: distributions is {given!r}; {form}") from None
    return listed


def _axes(design: str, given: Any) -> list[tuple[str, str, float, float, list[float]]]:
    form = 'expected {"q:JOINT": [values, ..]} or, where it is no grid, {"q:JOINT": (least, largest)}'
    listed = []
    try:
        for name, entry in dict(given).items():
            section, _, rest = word("sweep", "axis", name).partition(":")
            values = [float(x) for x in entry]
            ranged = design != "grid" and len(values) == 2
            least, largest = values if ranged else (0.0, 1.0)
            listed.append((section, rest, least, largest, [] if ranged else values))
    except (TypeError, ValueError, OverflowError):
        raise Error(f"sweep: axes is {given!r}; {form}") from None
    return listed


def _some_runs(shared: tuple[Any, ...], first: int, count: int, told: Any = None) -> Any:
    """Columns, numbers and errors of the runs from `first` on; on any worker."""
    model, scene, seed, threads, distributions, sweep, settings, controllers = shared
    plain = [_plain(x) for x in settings]
    return _core._monte_carlo(model, None if scene is None else scene._scene, first, count, seed, threads, distributions, sweep, *plain, _listed("monte_carlo", model, controllers), told)


def _many_runs(
    name: str, model: Model, scene: Scene | None, runs: int, seed: int, threads: int | None, distributions: Any, sweep: Any, settings: Sequence[Any], controllers: Any, executor: Any, progress: bool
) -> MonteCarlo:
    import numpy as np

    many: tuple[Any, ...] = (model, scene, whole(name, "seed", seed, 0, 2**64 - 1), (0 if executor is None else 1) if threads is None else whole(name, "threads", threads, 1, 1024), distributions, sweep, settings, controllers)
    with _Progress(name, progress) as told:
        if executor is None:
            columns, numbers, errors = _some_runs(many, 0, runs, told)
            return MonteCarlo(columns, numbers, dict(errors))
        from ._executors import blocks_of, share_out

        _core._monte_carlo(model, None if scene is None else scene._scene, 0, 0, seed, 1, distributions, sweep, *settings, _listed(name, model, controllers), None)  # errors are told here
        parts = share_out(name, executor, _some_runs, [many], blocks_of(runs), told)
    errors = {run: text for part in parts for run, text in part[2]}
    return MonteCarlo(parts[0][0], np.concatenate([part[1] for part in parts]), errors)


def _settings(name: str, model: Model, scene: Scene | None, integrator: str, duration: float, step: float, q: Any, v: Any, tau: Any, damping: bool, friction: bool, limits: str, restitution: float) -> tuple[Any, ...]:
    at, rates, forces = (model.neutral(), None, None) if scene is None else (scene.q, scene.v, scene.tau)
    return (
        word(name, "integrator", integrator), number(name, "duration", duration), number(name, "step", step),
        vector(name, "q", q, model.nq, at), vector(name, "v", v, model.nv, rates), vector(name, "tau", tau, model.nv, forces),
        flag(name, "damping", damping), flag(name, "friction", friction), word(name, "limits", limits), number(name, "restitution", restitution),
    )  # fmt: skip


def monte_carlo(
    model: Model | Scene,
    *,
    runs: int,
    duration: float,
    distributions: _Distributions,
    seed: int = 1,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    step: float = 1e-3,
    integrator: str = "rk4",
    damping: bool = False,
    friction: bool = False,
    limits: str = "none",
    restitution: float = 0.0,
    controllers: _Controller | Sequence[_Controller] = (),
    threads: int | None = None,
    executor: Any = None,
    progress: bool = True,
) -> MonteCarlo:
    """Many runs of one simulation with drawn starts, masses and forces, on all cores, or on an executor's workers.

    distributions: {"q": .., "v": .., "torque": .., "mass": ..}, each {NAME: {"normal": (mean, deviation)}} or
    {NAME: {"uniform": (least, largest)}}; NAME is a joint (a mass: a link), or "*" for all. q, v and torque are added to
    the start, masses (with their inertia) multiplied. The draws are those of `articula simulate --monte-carlo` with the
    same seed, and depend on it and a run's number alone, not on threads. Starts of closed chains are then moved to the
    nearest state that fits. Everything else is as simulate's.
    executor: one of concurrent.futures, mpi4py.futures, a Dask client, a pool (Ray's), joblib.Parallel: its workers make
    the runs, on one thread each, to the same bits.

    Example:
        >>> arm = articula.load("double_pendulum")
        >>> result = articula.monte_carlo(arm, runs=50, duration=0.2, distributions={"q": {"*": {"normal": (0, 0.1)}}})
        >>> result.q.shape, result.draws.shape, len(result.errors)
        ((50, 2), (50, 2), 0)
    """
    name = "monte_carlo"
    model, scene = _mechanism(name, model)
    settings = _settings(name, model, scene, integrator, duration, step, q, v, tau, damping, friction, limits, restitution)
    return _many_runs(name, model, scene, whole(name, "runs", runs, 1, 10**8), seed, threads, _distributions(distributions), None, settings, controllers, executor, progress)


def sweep(
    model: Model | Scene,
    axes: Mapping[str, Sequence[float]],
    *,
    duration: float,
    design: str = "grid",
    points: int | None = None,
    seed: int = 1,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    step: float = 1e-3,
    integrator: str = "rk4",
    damping: bool = False,
    friction: bool = False,
    limits: str = "none",
    restitution: float = 0.0,
    controllers: _Controller | Sequence[_Controller] = (),
    threads: int | None = None,
    executor: Any = None,
    progress: bool = True,
) -> MonteCarlo:
    """Runs of one simulation whose numbers are chosen, not drawn.

    axes: {"q:JOINT": values}, and likewise v, torque (added to the start), mass (multiplies a link's), armature, damping,
    friction (of a joint, set) and "gravity:z" (set); "*" for all names. design: "grid", every combination; or
    "latin_hypercube" or "sobol", `points` of them, where an axis is (least, largest) or a longer list of values.
    Everything else is as monte_carlo's; the points are those of `articula simulate --sweep`.

    Example:
        >>> arm = articula.load("double_pendulum")
        >>> result = articula.sweep(arm, {"q:joint1": [0.1, 0.2, 0.3], "mass:rod2": [1, 2]}, duration=0.1)
        >>> result.draws.tolist()
        [[0.1, 1.0], [0.1, 2.0], [0.2, 1.0], [0.2, 2.0], [0.3, 1.0], [0.3, 2.0]]
    """
    name = "sweep"
    model, scene = _mechanism(name, model)
    listed = _axes(word(name, "design", design), axes)
    count = 0 if points is None else whole(name, "points", points, 1, 10**8)
    chosen = design, listed, count
    runs = _core._sweep_size(*chosen)
    settings = _settings(name, model, scene, integrator, duration, step, q, v, tau, damping, friction, limits, restitution)
    return _many_runs(name, model, scene, whole(name, "points", runs, 1, 10**8), seed, threads, [], chosen, settings, controllers, executor, progress)
