"""Options in groups: one small object per subject, the same options on the command line."""

from __future__ import annotations

from dataclasses import dataclass, fields
from inspect import signature
from typing import Annotated

import numpy as np
import pytest
import typer
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from srsg.cli import app, cluster, compare, info, predict
from srsg.cli.cluster_options import Fitting, Writing
from srsg.cli.console import as_options
from srsg.cli.groups import Preparing, Reading, with_groups
from srsg.explaining.confidence import confidence
from srsg.features import Scattering
from support import cli_runs


@dataclass(frozen=True)
class Colors:
    front: Annotated[str, typer.Option("-f", "--front", help="In front.")] = "red"
    back: Annotated[int, typer.Option(help="Behind.")] = 3


def paint(name: str, *, colors: Colors, loud: Annotated[bool, typer.Option("--loud")] = False):
    """Paint something."""
    print(name, colors.front, colors.back, loud)


def run(command, *arguments):
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["x"], "x red 3 False"),
        (["x", "-f", "blue", "--loud"], "x blue 3 True"),
        (["--back", "7", "x"], "x red 7 False"),
    ],
)
def test_fields_are_options(arguments, printed):
    assert run(with_groups(paint), *arguments).stdout == f"{printed}\n"


def test_fields_that_are_left_out_keep_their_defaults():
    command = with_groups(paint, leave_out=["back"])
    assert run(command, "x").stdout == "x red 3 False\n"
    done = run(command, "x", "--back", "7")
    assert done.exit_code == 2
    assert "--back" in done.output


def test_wrong_values_are_refused_and_the_text_is_the_commands():
    assert run(with_groups(paint), "x", "--back", "much").exit_code == 2
    assert "Paint something." in run(with_groups(paint), "--help").stdout


def options_of(command):
    found = typer.main.get_command(app).commands[command].params
    return {name for each in found for name in (*each.opts, *each.secondary_opts)}


def test_every_field_is_an_option_of_cluster():
    offered = {each.name for each in typer.main.get_command(app).commands["cluster"].params}
    for group in (Fitting, Writing, Reading, Preparing):
        assert {each.name for each in fields(group)} <= offered


@pytest.mark.parametrize("command", ["cluster", "compare", "predict", "info", "demo"])
def test_the_size_of_blocks_is_no_option(command):
    assert not {name for name in options_of(command) if "block" in name}


def test_gaps_are_no_choice_of_info():
    assert "--drop-missing" in options_of("compare")
    assert "--drop-missing" not in options_of("info")


@pytest.mark.parametrize("command", [cluster, compare, info, predict])
def test_no_command_takes_a_crowd_of_parameters(command):
    assert len(signature(command).parameters) <= 10


def test_features_of_images(tmp_path):
    digits = load_digits()
    np.savez(tmp_path / "digits.npz", X=digits.data[:60], y=digits.target[:60], shape=[8, 8])
    shapes = []

    class Recorded(Scattering):
        def fit_transform(self, X, y=None):
            shapes.append(super().fit_transform(X).shape)
            return super().fit_transform(X)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("srsg.features.Scattering", Recorded)
        file = tmp_path / "digits.npz"
        cli_runs.good("cluster", file, "-k", 3, "-m", "l1", "--features", "scattering")
    assert shapes[0][1] > 64


def test_the_report_of_features_shows_images(tmp_path):
    digits = load_digits()
    np.savez(tmp_path / "digits.npz", X=digits.data[:60], y=digits.target[:60], shape=[8, 8])
    page = tmp_path / "page.html"
    options = ("-m", "kmeans", "--features", "scattering", "--scale", "standard", "--report", page)
    cli_runs.good("cluster", tmp_path / "digits.npz", "-k", 3, *options)
    assert 'class="thumb' in page.read_text()


def test_confidence_is_computed_once(tmp_path, monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return confidence(*arguments)

    for module in ("cli.outputs", "report.facts"):
        monkeypatch.setattr(f"srsg.{module}.confidence", counted)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((30, 4)))
    files = ("-o", tmp_path / "labels.csv", "--report", tmp_path / "page.html")
    cli_runs.good("cluster", tmp_path / "x.npy", "-k", 2, "-m", "kmeans", *files)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "options",
    [["--affine"], ["--id", "a"], ["--report", "r.html"], ["--gray"]],
    ids=lambda options: options[0],
)
def test_points_of_a_cluster_stay_there(tmp_path, options):
    scheduler = ("-m", "l1", "--scheduler", "tcp://127.0.0.1:1")
    line = cli_runs.the_error("cluster", tmp_path / "x.npy", *scheduler, *options, code=2)
    assert f"{options[0]} needs the points in this process" in line


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("n_clusters=9 exceeds the points", "-k 9 exceeds the points"),
        ("The 'lam' parameter of SRSG must be a float.", "--lam must be a float."),
        ("name one with variable=...", "name one with --variable"),
        ("and set affine=True.", "and set --affine."),
        ("with store= the work is kept", "with --store the work is kept"),
        ("take fewer threads with n_jobs", "take fewer threads with --jobs"),
        ("slam=3 and x_lam=3 are no options", "slam=3 and x_lam=3 are no options"),
    ],
)
def test_messages_name_options_instead_of_parameters(message, shown):
    assert as_options(message) == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "wavelets"], "'wavelets' is not one of 'scattering'"),
        (["--features", "scattering"], "needs gray images"),
        (["--features", "scattering", "--model", "m.srsg"], "--model cannot be combined"),
    ],
)
def test_features_that_cannot_be(tmp_path, options, message):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((30, 9)))
    done = cli_runs.run("cluster", tmp_path / "x.npy", "-k", 2, *options)
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.replace("│", " ").split())
