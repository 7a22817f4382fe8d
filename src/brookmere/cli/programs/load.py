"""Turns `module:name` or `file.py:name` into the program that stands there."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from brookmere.dsl.program import Builder
from brookmere.errors import BrookmereError, CommandError
from brookmere.names import nearest
from brookmere.topology.nodes import Topology

Program = Builder | Topology

_NOT_THE_USERS = (
    str(Path(__file__).resolve().parents[2]) + os.sep,
    str(Path(os.__file__).parent) + os.sep,
    "<",
)
"""How the names of files begin that are Brookmere's or Python's own."""


@dataclass(frozen=True, slots=True)
class Found:
    """A program, and the module that it stands in."""

    program: Program
    module: ModuleType
    place: str
    """What the command line calls the module."""


def load(target: str) -> Program:
    """Import what `target` names and return its program; `find` tells more."""
    return find(target).program


def is_program(target: str) -> bool:
    """Tell whether a text can only name a program: a file, or a name in a module."""
    return ":" in target or target.endswith(".py") or os.sep in target


def find(target: str) -> Found:
    """Import what `target` names and return its program and where it stands.

    A target is `package.module:name`, `path/to/file.py:name`, or either of them without a name when exactly
    one program stands there. A name may also be that of a function without parameters that returns one.

    Raises:
        CommandError: there is no such module, file or name, it fails while it is loaded, or is no program.
    """
    place, _, name = target.partition(":")
    if not place or target.count(":") > 1:
        raise CommandError(
            f"{target!r} does not name a program.\n"
            "Write module:name or path/to/file.py:name, for example word_count:app or examples/word_count.py."
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    is_file = place.endswith(".py") or os.sep in place
    module = _load_file(Path(place)) if is_file else _load_module(place)
    program = _attribute(module, place, name) if name else _only_program(module, place)
    return Found(program, module, place)


def built(program: Program, optimization: str = "none") -> Topology:
    """Return the topology of a program; one that is a topology already is not optimized any more."""
    return program.build(optimization=optimization) if isinstance(program, Builder) else program


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        files = [str(file) for file in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise CommandError(
            f"There is no file {path} (searched in {Path.cwd()}).\n{_suggest(str(path), files)}"
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # A file may be called like a module that is in use; that one must stay what it is.
    name = path.stem if path.stem not in sys.modules else f"brookmere_program_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CommandError(f"{path} cannot be loaded as a Python file.\nName a file that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _explained(str(path)):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _load_module(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise CommandError(
            f"{name!r} is not the name of a module.\n"
            f"Write module:name or path/to/file.py:name; a file needs its ending: {name}.py."
        )
    importlib.invalidate_caches()
    with _explained(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as failure:
            # The module itself is missing, or a package above it; anything else is missing inside of it.
            if failure.name is not None and f"{name}.".startswith(f"{failure.name}."):
                raise _missing_module(name) from failure
            raise


def _missing_module(name: str) -> CommandError:
    here = Path.cwd()
    depth = name.count(".") + 1
    files = [file.relative_to(here) for file in here.glob("*/" * (depth - 1) + "*.py")]
    modules = {".".join(file.with_suffix("").parts): str(file) for file in files}
    close = nearest(name, modules)
    if close is None:
        # The module may lie one folder further down, where its name alone does not find it.
        same = sorted(str(file.relative_to(here)) for file in here.glob(f"*/{name.rpartition('.')[2]}.py"))
        hint = (
            f"There is {same[0]}: name it by its path." if same else "Name a module, or a file by its path."
        )
    else:
        hint = f"Did you mean {close} (the file {modules[close]})?"
    return CommandError(
        f"There is no module {name!r}.\nSearched in {here} and the installed packages.\n{hint}"
    )


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """Turn what the user's code raises while it is loaded into an error that says where."""
    try:
        yield
    except (KeyboardInterrupt, BrookmereError):
        raise
    except BaseException as failure:
        raise CommandError(_explanation(failure, place)) from failure


def _explanation(failure: BaseException, place: str) -> str:
    match failure:
        case SyntaxError(filename=str(file), lineno=line, msg=message) if file:
            quoted = f"\n    {failure.text.strip()}" if failure.text else ""
            return f"{_short(file)}:{line} is not valid Python: {message}.{quoted}"
        case SystemExit():
            what = (
                f"{_where(failure, place)} ended Python with sys.exit({failure.code!r}) while it was loaded."
            )
            return f'{what}\nMove it below `if __name__ == "__main__":`.'
        case ModuleNotFoundError(name=str(missing)):
            what = f"{_where(failure, place)} imports {missing!r}, and there is no such module."
            return f"{what}\nInstall it into the environment of {sys.executable}, or mend the name."
        case _:
            words = "".join(traceback.format_exception_only(failure)).strip()
            return f"{_where(failure, place)} failed while it was loaded: {words}"


def _where(failure: BaseException, place: str) -> str:
    """Return the place in the user's code that an exception comes from, as file:line."""
    found = place
    trace: TracebackType | None = failure.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_NOT_THE_USERS) and "site-packages" not in file:
            found = f"{_short(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def _attribute(module: ModuleType, place: str, name: str) -> Program:
    found: Any = module
    for part in name.removesuffix("()").split("."):
        if not hasattr(found, part):
            programs = ", ".join(_programs(module)) or "none"
            known = [known for known in vars(found) if not known.startswith("_")]
            raise CommandError(
                f"{place} has no {part!r}.\nPrograms found there: {programs}.\n"
                + (_hidden_file(module, place) or _suggest(part, known, prefix=f"{place}:"))
            )
        found = getattr(found, part)
    if inspect.isfunction(found) and not inspect.signature(found).parameters:
        with _explained(f"{place}:{name}"):
            found = found()
    if not isinstance(found, Program):
        programs = ", ".join(_programs(module))
        raise CommandError(
            f"{place}:{name} is a {type(found).__name__}, not a StreamsBuilder or a Topology.\n"
            + (f"Programs found there: {programs}." if programs else "Name a program.")
        )
    return found


def _only_program(module: ModuleType, place: str) -> Program:
    programs = _programs(module)
    if len({id(program) for program in programs.values()}) == 1:
        return next(iter(programs.values()))
    if not programs:
        example = 'Assign a StreamsBuilder to a name: app = bm.StreamsBuilder("my-application").'
        raise CommandError(f"{place} holds no program.\n{_hidden_file(module, place) or example}")
    names = " or ".join(f"{place}:{name}" for name in programs)
    raise CommandError(f"{place} holds {len(programs)} programs.\nSay which: {names}.")


def _hidden_file(module: ModuleType, place: str) -> str | None:
    """Return a hint where the user's file has the name of another module, which is found instead."""
    file = Path(f"{place}.py")
    origin = getattr(module, "__file__", None)
    if not file.is_file() or origin is None or Path(origin).resolve() == file.resolve():
        return None
    return f"This is the module {origin}, and not the file {file} here: name that one by its path, ./{file}."


def _programs(module: ModuleType) -> dict[str, Program]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Program)}


def _suggest(name: str, known: list[str], *, prefix: str = "") -> str:
    close = nearest(name, known)
    return f"Did you mean {prefix}{close}?" if close else "Look for a typing error."


def _short(file: str) -> str:
    """Return a file's path as seen from here, if it lies here."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
