"""The named tuples that algorithms with several results return, by the algorithm's name in capitals."""

from collections import namedtuple as _namedtuple

from . import _core

by_algorithm = {}
for _algorithm in _core.algorithms():
    if len(_algorithm["parts"]) > 1:
        _class_name = "".join(word.capitalize() for word in _algorithm["name"].split("_"))
        _type = _namedtuple(_class_name, [key for key, _, _ in _algorithm["parts"]], module=__name__)
        _type.__doc__ = f"What Model.{_algorithm['name']} returns: {_algorithm['meaning']}."
        globals()[_class_name] = by_algorithm[_algorithm["name"]] = _type
