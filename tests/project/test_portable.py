"""Windows and macOS, as far as Linux can tell: nothing of POSIX without a way around it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_OF_OS = {
    *("chown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid"),
    *("getpriority", "getuid", "killpg", "mkfifo", "nice", "pread", "pwrite", "sched_getaffinity"),
    *(
        "sched_setaffinity",
        "setpriority",
        "setsid",
        "sysconf",
        "uname",
        "wait3",
        "wait4",
        "WNOHANG",
    ),
    "rename",  # which does not replace a file on Windows; os.replace does
}
SIGNALS = {"SIGINT", "SIG_DFL", "SIG_IGN"}
"""What Windows delivers too. SIGTERM has a name there, but no process receives it."""
POSIX_ARGUMENTS = {"preexec_fn", "start_new_session", "pass_fds", "process_group"}
TEXT = {"read_text", "write_text"}


def caught_above(node, parents):
    """What is caught around a place in the code, by ``try`` or ``suppress``."""
    names = set()
    while node in parents:
        inner, node = node, parents[node]
        if isinstance(node, ast.Try) and inner in node.body:
            names |= {
                each.id
                for handler in node.handlers
                for each in ast.walk(handler.type or ast.Name("Exception"))
                if isinstance(each, ast.Name)
            }
        if isinstance(node, ast.With):
            calls = [item.context_expr for item in node.items]
            names |= {
                each.id
                for call in calls
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "suppress"
                for each in call.args
                if isinstance(each, ast.Name)
            }
    return names


def function_of(node, parents):
    """The text of the function that a place in the code is in."""
    while node in parents and not isinstance(node, ast.FunctionDef):
        node = parents[node]
    return ast.unparse(node)


def problems(code):
    """What would fail on another system, with its line."""
    tree = ast.parse(code)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    text = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        found = None
        match node:
            case ast.Import(names=names) if {each.name for each in names} & POSIX_MODULES:
                found = "ImportError" not in caught_above(node, parents) and "module"
            case ast.ImportFrom(module=str(module)) if module in POSIX_MODULES:
                found = "ImportError" not in caught_above(node, parents) and "module"
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in POSIX_OF_OS:
                found = "AttributeError" not in caught_above(node, parents) and f"os.{name}"
            case ast.Attribute(value=ast.Name(id="signal"), attr=str(name)):
                found = name.startswith("SIG") and name not in SIGNALS and name
            case ast.Call(keywords=words) if {each.arg for each in words} & POSIX_ARGUMENTS:
                found = "argument of a process"
            case ast.Constant(value="fork"):
                found = "fork"
            case ast.Constant(value=str(value)) if id(node) not in text:
                if value.startswith(("/tmp", "/var/", "/home/", "/etc/", "/dev/")):
                    found = value
                elif value.startswith(("/proc/", "/sys/")):
                    around = function_of(node, parents)
                    found = "OSError" not in around and ".exists()" not in around and value
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in TEXT:
            known = "encoding" in ast.unparse(node) or "utf-8" in ast.unparse(node)
            numbers = any(place in function_of(node, parents) for place in ("'/proc/", "'/sys/"))
            found = found or (not known and not numbers and "text without encoding")
        if found:
            yield f"line {node.lineno}: {found}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_of_posix_without_a_way_around_it(path):
    assert list(problems(path.read_text())) == []


@pytest.mark.parametrize(
    "code",
    [
        "import fcntl",
        "from resource import getrlimit",
        "os.fork()",
        "multiprocessing.get_context('fork')",
        "open('/tmp/points')",
        "Path('/proc/cpuinfo').open()",
        "signal.signal(signal.SIGALRM, stop)",
        "subprocess.run(command, preexec_fn=limit)",
        "path.read_text()",
        "try:\n    import fcntl\nexcept OSError:\n    pass",
    ],
)
def test_what_would_fail_is_found(code):
    assert list(problems(code))


# Read by every Python that starts below, children among them.
ELSEWHERE = """
import builtins, io, os, sys
MISSING = {"fcntl", "resource", "pwd", "grp", "termios"}
class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in MISSING:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing)
for name in ("fork", "forkpty", "sysconf", "getuid", "nice", "mkfifo"):
    if hasattr(os, name):
        delattr(os, name)
plain = io.open
HIDDEN = "/proc/self/stat", "/proc/meminfo", "/sys/fs/cgroup/memory"
def opened(file, *rest, **options):
    if str(file).startswith(HIDDEN):
        raise FileNotFoundError(file)
    return plain(file, *rest, **options)
builtins.open = io.open = opened
import pathlib
there = pathlib.Path.exists
pathlib.Path.exists = lambda self: not str(self).startswith(HIDDEN) and there(self)
import multiprocessing, multiprocessing.context as context
for each in (multiprocessing, context._default_context):
    each.get_all_start_methods = lambda: ["spawn"]
import signal
for name in ("SIGALRM", "SIGHUP", "SIGPIPE", "SIGUSR1"):  # joblib names SIGTERM everywhere
    if hasattr(signal, name):
        delattr(signal, name)
"""

PROGRAM = """
import os, sys
from pathlib import Path
from srsg.memory import address_space_left, free_memory
from srsg.__main__ import main
try:
    import fcntl
except ImportError:
    print("elsewhere")
assert address_space_left() == float("inf") and 0 < free_memory() < float("inf")

def run(*words):
    sys.argv = ["srsg", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, words

if __name__ == "__main__":
    table = sys.argv[1]
    run("info", table)
    run("cluster", table, "-k", "3", "--method", "l1", "-o", "labels.csv", "--model", "m.srsg",
        "--report", "page.html", "--store", "kept")
    run("predict", "m.srsg", table, "-o", "again.csv")
    run("compare", table, "-k", "3", "--methods", "kmeans", "-o", "methods.csv")
"""


def test_commands_run_without_what_posix_has(tmp_path):
    """Files, stores, models, reports, and processes that are spawned."""
    pytest.importorskip("typer")
    (tmp_path / "sitecustomize.py").write_text(ELSEWHERE)
    (tmp_path / "program.py").write_text(PROGRAM)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "program.py", ROOT / "docs" / "start" / "wines.csv"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "elsewhere" in done.stdout
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 151
    assert len((tmp_path / "again.csv").read_text().splitlines()) == 151
    assert "kmeans" in (tmp_path / "methods.csv").read_text()
