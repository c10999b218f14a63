"""Where blocks run: order, errors, interruption, progress."""

from __future__ import annotations

import io
import threading
import time

import numpy as np
import pytest
from scipy import sparse

from srsg import L1Graph
from srsg.memory import address_space_left
from srsg.points import Points, row_digests
from srsg.running import ThreadEngine, serial_linear_algebra
from srsg.running.progress import PrintedProgress
from srsg.running.warnings import made_dense


def test_results_come_in_the_order_of_the_blocks():
    def task(data, block):
        time.sleep(0.01 * (5 - block))
        return data + block

    assert ThreadEngine(3).map(task, 10, range(5), label="") == [10, 11, 12, 13, 14]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_reaches_the_caller_and_the_rest_never_starts(error):
    started = []

    def task(_, block):
        started.append(block)
        if block == 1:
            raise error("block 1")
        time.sleep(0.02)

    engine = ThreadEngine(2)
    with pytest.raises(error, match="block 1"):
        engine.map(task, None, range(100), label="")
    assert len(started) < 100
    # The engine is still good for more.
    assert engine.map(lambda _, block: block, None, [1, 2], label="") == [1, 2]


def test_linear_algebra_is_serial_inside():
    from threadpoolctl import threadpool_info

    def task(_, block):
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        # The library that faiss brings takes its number from OpenMP, which every thread sets for
        # itself: srsg.candidates does, at every search.
        return [pool["num_threads"] for pool in pools if pool["threading_layer"] != "openmp"]

    for numbers in ThreadEngine(2).map(task, None, [0, 1], label=""):
        assert set(numbers) == {1}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_threads_describe_points_as_one_thread_does(kind):
    x = kind(np.random.default_rng(0).standard_normal((2500, 5)).round())
    engine = ThreadEngine(2)
    assert engine.row_digests(Points(x)) == row_digests(Points(x))
    # One digest for each point, in their order.
    assert row_digests(Points(x[2400:2401])) == row_digests(Points(x))[2400 * 16 : 2401 * 16]


def test_all_cores_by_default_and_as_many_threads_as_asked():
    from joblib import cpu_count

    assert ThreadEngine().n_workers == cpu_count()
    both = threading.Barrier(2, timeout=10)
    ThreadEngine(2).map(lambda _, block: both.wait(), None, [0, 1], label="")


def test_progress_tells_what_was_done_unless_quiet(capsys):
    engine = ThreadEngine(1, PrintedProgress())
    engine.map(lambda _, block: block, None, [0, 1], label="counting")
    assert "counting" in capsys.readouterr().err
    engine.quiet().map(lambda _, block: block, None, [0, 1], label="counting")
    assert capsys.readouterr().err == ""


def test_one_engine_with_blocks_that_fit_does_all_the_work_of_a_fit(monkeypatch, block_size):
    engines, sizes = [], []
    start, scan = ThreadEngine.__init__, ThreadEngine.scan

    def counted(self, *arguments, **options):
        engines.append(self)
        start(self, *arguments, **options)

    def seen(self, *arguments, **options):
        sizes.append(self.block_size)
        return scan(self, *arguments, **options)

    monkeypatch.setattr(ThreadEngine, "__init__", counted)
    monkeypatch.setattr(ThreadEngine, "scan", seen)
    block_size(37)
    L1Graph(3, n_jobs=1).fit(np.random.default_rng(0).standard_normal((60, 5)))
    assert len(engines) == 1
    assert engines[0].n_workers == 1
    assert set(sizes) == {37}


def blas_threads():
    """Threads of BLAS libraries that have one number of them for the whole process."""
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return [pool["num_threads"] for pool in pools if pool["threading_layer"] != "openmp"]


@pytest.fixture
def two_blas_threads():
    """Without a context manager: inside one, threadpoolctl lets no other thread set anything."""
    from srsg.running.engine import _set_threads, thread_pools

    libraries = thread_pools("blas").lib_controllers
    before = [library.num_threads for library in libraries]
    for library in libraries:
        _set_threads(library, 2)
    yield
    for library, number in zip(libraries, before, strict=True):
        _set_threads(library, number)


def test_nested_users_leave_blas_as_it_was(two_blas_threads):
    assert set(blas_threads()) == {2}
    with serial_linear_algebra():
        with serial_linear_algebra():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_users_that_overlap_leave_blas_as_it_was(two_blas_threads):
    """The first to start is the first to end, in a thread of its own, which goes on living."""
    first_started, other_started = threading.Event(), threading.Event()
    first_ended, may_end = threading.Event(), threading.Event()
    seen = []

    def wait_for_other(*_):
        first_started.set()
        assert other_started.wait(10)

    def first():
        ThreadEngine(1).map(wait_for_other, None, [0], label="")
        seen.append(blas_threads())
        first_ended.set()
        may_end.wait(10)

    def other(*_):
        other_started.set()
        assert first_ended.wait(10)
        seen.append(blas_threads())

    thread = threading.Thread(target=first)
    thread.start()
    assert first_started.wait(10)
    ThreadEngine(1).map(other, None, [0], label="")
    after = blas_threads()
    may_end.set()
    thread.join()
    assert set(after) == {2}
    assert [set(each) for each in seen] == [{1}, {1}]  # as long as one was inside


@pytest.fixture
def limited(monkeypatch):
    """A limit on the memory of the process, before any threads have taken theirs."""
    monkeypatch.setattr("srsg.running.engine.Threads._n_ready", 0)

    def limit(megabytes):
        monkeypatch.setattr("srsg.running.engine.address_space_left", lambda: megabytes * 10**6)

    return limit


def test_a_limit_on_memory_means_fewer_threads(limited):
    limited(500)
    engine = ThreadEngine(8)
    assert engine.n_workers == 3
    limited(100)  # the next fit takes over what these threads have
    assert ThreadEngine(8).n_workers == 3
    assert engine.map(lambda _, block: block, None, [1, 2, 3], label="") == [1, 2, 3]


def test_no_room_for_one_thread_is_said_before_any_work(limited):
    limited(100)
    with pytest.raises(MemoryError, match=r"may take only 100.0 MB more .* raise the limit"):
        L1Graph(2).fit(np.eye(8))


@pytest.mark.parametrize("megabytes", [10**6, float("inf")])
def test_threads_that_do_not_start_are_a_lack_of_memory(megabytes, limited, monkeypatch):
    """Without a limit that could be seen, too: containers limit the number of threads."""

    def start(thread):
        raise RuntimeError("can't start new thread")

    limited(megabytes)
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(MemoryError, match="lets no more threads start: take fewer with n_jobs"):
        L1Graph(2).fit(np.eye(8))


def test_other_errors_of_threads_stay_as_they_are():
    threads = ThreadEngine(1).threads
    threads.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        threads.submit(print)


def test_warnings_name_the_line_of_the_user(monkeypatch):
    monkeypatch.setattr("srsg.running.warnings.WORTH_TELLING", 0)
    with pytest.warns(UserWarning, match="a test needs dense points") as caught:
        made_dense(sparse.eye_array(3, format="csr"), "a test needs dense points")
    assert caught[0].filename == __file__


def test_a_terminal_shows_how_far_a_stage_is_at_once(monkeypatch):
    """Lines end without a line feed, so they have to be flushed; five a second are enough."""

    class Terminal(io.StringIO):
        flushed = ""

        def isatty(self):
            return True

        def flush(self):
            self.flushed = self.getvalue()

    clock, terminal = iter([0.0, 0.1, 1.0, 1.1, 4.0]), Terminal()
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr", terminal)
    with PrintedProgress().stage("work", 4) as stage:
        for _ in range(3):
            stage.advance()
        shown = terminal.flushed.split("\r")
    assert [line.strip() for line in shown] == ["", "work:  50%, about 1 s left"]
    assert terminal.getvalue().endswith("\rwork: 4.00 s\n")


def test_no_address_space_is_left_below_none(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda what: (1000, 1000))
    assert address_space_left() == 0
    monkeypatch.setattr(resource, "getrlimit", lambda what: (10**15, 10**15))
    assert 0.999 * 10**15 < address_space_left() < 10**15
    monkeypatch.setattr(resource, "getrlimit", lambda what: (resource.RLIM_INFINITY,) * 2)
    assert address_space_left() == np.inf
