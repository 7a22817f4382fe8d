"""Load the program that a command names as `module:name` or `file.py:name`."""

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

from brookmere.dsl.base_builder import Builder
from brookmere.errors import BrookmereError, CommandError
from brookmere.names import nearest
from brookmere.topology.nodes import Topology

Program = Builder | Topology

_NOT_THE_USERS = (
    str(Path(__file__).resolve().parents[2]) + os.sep,
    str(Path(os.__file__).parent) + os.sep,
    "<",
)
"""Prefixes of the files that belong to Brookmere or Python and not to the user."""


@dataclass(frozen=True, slots=True)
class Found:
    """A program and the module that defines it."""

    program: Program
    module: ModuleType
    place: str
    """The module as named on the command line."""


def load(target: str) -> Program:
    """Import what `target` names and return its program; see `find`."""
    return find(target).program


def is_program(target: str) -> bool:
    """Return whether a text can only name a program: a file, or a name in a module."""
    return ":" in target or target.endswith(".py") or os.sep in target


def find(target: str) -> Found:
    """Import what `target` names and return its program and module.

    A target is `package.module:name`, `path/to/file.py:name`, or either of them without a name when exactly
    one program is defined there. The name may also be a function without parameters that returns one.

    Raises:
        CommandError: there is no such module, file or name, loading it fails, or it is not a program.
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
    """Return the topology of a program; a program that is already a topology is not optimized again."""
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
    # A file may have the name of an imported module, which must not be replaced.
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
            f"Write module:name or path/to/file.py:name; a file needs its extension: {name}.py."
        )
    importlib.invalidate_caches()
    with _explained(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as failure:
            # The module itself or a parent package is missing; anything else is an import inside the module.
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
        # The module may be in a subfolder, where its name alone does not find it.
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
    """Report exceptions of the user's code while loading it, with their location."""
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
            what = f"{_where(failure, place)} called sys.exit({failure.code!r}) while it was loaded."
            return f'{what}\nMove it below `if __name__ == "__main__":`.'
        case ModuleNotFoundError(name=str(missing)):
            what = f"{_where(failure, place)} imports {missing!r}, but there is no such module."
            return f"{what}\nInstall it into the environment of {sys.executable}, or fix the name."
        case _:
            words = "".join(traceback.format_exception_only(failure)).strip()
            return f"{_where(failure, place)} failed while it was loaded: {words}"


def _where(failure: BaseException, place: str) -> str:
    """Return the location in the user's code where an exception was raised, as file:line."""
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
        raise CommandError(f"{place} contains no program.\n{_hidden_file(module, place) or example}")
    names = " or ".join(f"{place}:{name}" for name in programs)
    raise CommandError(f"{place} contains {len(programs)} programs.\nChoose one: {names}.")


def _hidden_file(module: ModuleType, place: str) -> str | None:
    """Return a hint if another module of the same name was found instead of the user's file."""
    file = Path(f"{place}.py")
    origin = getattr(module, "__file__", None)
    if not file.is_file() or origin is None or Path(origin).resolve() == file.resolve():
        return None
    return f"This is the module {origin}, not the file {file} here. Name the file by its path: ./{file}."


def _programs(module: ModuleType) -> dict[str, Program]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Program)}


def _suggest(name: str, known: list[str], *, prefix: str = "") -> str:
    close = nearest(name, known)
    return f"Did you mean {prefix}{close}?" if close else "Check the spelling."


def _short(file: str) -> str:
    """Return a path relative to the working directory, if the file is below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
