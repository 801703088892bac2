"""Writes the type stubs of what is made from the list of algorithms: make_stubs.py _core.so FOLDER."""

import importlib.util
import pathlib
import sys

HEAD = '''"""What the package is built on; made by python/make_stubs.py."""
from typing import Any, Callable, Literal, Sequence
from numpy.typing import ArrayLike, NDArray
from . import results
_Array = NDArray[Any]
_Frame = str | int
class Model:
    """The compiled part of articula.Model."""
    def __init__(self, spec: object, base: str, gravity: Sequence[float]) -> None: ...
    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def mass(self) -> float: ...
    @property
    def base(self) -> Literal["fixed", "free"]: ...
    @property
    def gravity(self) -> tuple[float, float, float]: ...
    def bind(self, name: str, *args: Any, **kwargs: Any) -> Callable[[], Any]: ...
'''
KEYWORDS = {
    "wrenches": "wrenches: ArrayLike | None = None",
    "axes": 'axes: Literal["world", "local", "spatial"] | None = None',
    "method": 'method: Literal["automatic", "direct", "conventional"] | None = None',
    "threads": "threads: int | None = None",
}


def class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def method(algorithm: dict) -> str:
    several = len(algorithm["parts"]) > 1
    parameters = ["self", *(f"{name}: ArrayLike" for name in algorithm["arguments"]), "*"]
    for name in algorithm["keywords"]:
        if name == "frame":
            parameters.append("frame: _Frame" + (" | Sequence[_Frame]" if algorithm["frames"] == "several" else ""))
        elif name == "out":
            parameters.append("out: " + ("Sequence[_Array]" if several else "_Array") + " | None = None")
        else:
            parameters.append(KEYWORDS[name])
    result = f"results.{class_name(algorithm['name'])}" if several else "Any" if not algorithm["parts"][0][1] else "_Array"
    return f"    def {algorithm['name']}({', '.join(parameters)}) -> {result}: ...\n"


def main(module_file: str, folder: str) -> None:
    spec = importlib.util.spec_from_file_location("_core", module_file)
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    algorithms = core.algorithms()
    text = HEAD + "".join(method(a) for a in algorithms)
    text += "def algorithms() -> list[dict[str, Any]]: ...\n"
    for name in sorted(name for name in vars(core) if name.startswith("_") and not name.startswith("__")):
        text += f"{name}: Any\n"  # for the package itself
    results = "from typing import Any, NamedTuple\nfrom numpy.typing import NDArray\n"
    for algorithm in algorithms:
        if len(algorithm["parts"]) > 1:
            results += f"class {class_name(algorithm['name'])}(NamedTuple):\n"
            for key, shape, _ in algorithm["parts"]:
                results += f"    {key}: {'NDArray[Any]' if shape else 'Any'}\n"
    results += "by_algorithm: dict[str, type[tuple[Any, ...]]]\n"
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    (out / "_core.pyi").write_text(text)
    (out / "results.pyi").write_text(results)


if __name__ == "__main__":
    main(*sys.argv[1:])
