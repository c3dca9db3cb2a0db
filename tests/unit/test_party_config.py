"""Plans that cannot work are refused before anybody listens, with one line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from whatleaks.cli import app
from whatleaks.errors import SpecError, UsageError
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.boost.settings import SecureBoostSettings
from whatleaks.federation.horizontal.settings import HorizontalSettings
from whatleaks.federation.processes.party_config import PartyConfig, check_party, load_config
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.torch_network import Layers

BOOST = """
[plan]
protocol = "secure-boost"
align = true
[plan.settings]
rounds = 7
subsample = 1
key_bits = 3072
pack = false
[plan.parties]
active = "127.0.0.1:1"
passive = "127.0.0.1:2"
passive-2 = "127.0.0.1:3"
[own]
keys = "k"
state = "s"
table = "t.csv"
id = "id"
target = "y"
"""

HORIZONTAL = """
[plan]
protocol = "horizontal"
[plan.settings]
rounds = 3
averaging = "shared"
[plan.parties]
client-2 = "127.0.0.1:1"
client-1 = "127.0.0.1:2"
arbiter = "127.0.0.1:3"
[own]
keys = "k"
state = "s"
table = "t.csv"
target = "y"
"""


def loaded(tmp_path: Path, text: str, name: str) -> PartyConfig:
    path = tmp_path / "party.toml"
    path.write_text(text)
    return load_config(path, name)


def test_settings_of_boosting_and_of_encryption_lie_side_by_side(tmp_path: Path) -> None:
    plan = loaded(tmp_path, BOOST, "active").plan
    assert isinstance(plan.settings, SecureBoostSettings)
    assert (plan.settings.boost.rounds, plan.settings.key_bits) == (7, 3072)
    assert plan.settings.pack is False
    assert plan.passives == ("passive", "passive-2")
    assert plan.align
    assert not plan.strip


def test_clients_stand_in_one_order(tmp_path: Path) -> None:
    plan = loaded(tmp_path, HORIZONTAL, "client-1").plan
    assert isinstance(plan.settings, HorizontalSettings)
    assert plan.clients == ("client-1", "client-2")
    assert check_party("client-1") == "client"


@pytest.mark.parametrize("name", ["boss", "active-2", "coordinator-2", "arbiter-2", "passive-x"])
def test_a_name_that_no_party_can_have_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="is no party"):
        check_party(name)


ADDITIVE = """
[plan]
protocol = "additive"
prediction = "scores"
seed = 4
[plan.settings]
hidden = [5, 3]
steps = 7
[plan.parties]
active = "127.0.0.1:1"
passive = "127.0.0.1:2"
coordinator = "127.0.0.1:3"
[own]
keys = "k"
state = "s"
table = "t.csv"
target = "y"
predict = "p.csv"
"""
SPLIT = (
    ADDITIVE.replace('"additive"', '"split"')
    .replace('prediction = "scores"', "")
    .replace('coordinator = "127.0.0.1:3"', "")
    .replace("hidden = [5, 3]", "bottom = [12, 6]")
)


def test_widths_of_layers_are_lists(tmp_path: Path) -> None:
    plan = loaded(tmp_path, ADDITIVE, "active").plan
    assert plan.settings == AdditiveSettings(hidden=(5, 3), steps=7)
    assert plan.seed == 4
    split = loaded(tmp_path, SPLIT, "active").plan.settings
    assert split == SplitSettings(steps=7, bottom=Layers((12,), 6))


def test_a_coordinator_needs_no_table(tmp_path: Path) -> None:
    bare = ADDITIVE.replace('table = "t.csv"\ntarget = "y"\npredict = "p.csv"\n', "")
    assert loaded(tmp_path, bare, "coordinator").table is None
    with pytest.raises(UsageError, match=r"own\.table is missing"):
        loaded(tmp_path, bare, "passive")


@pytest.mark.parametrize(
    ("text", "change", "why"),
    [
        (ADDITIVE, ("[5, 3]", '["5"]'), "hidden must list widths"),
        (ADDITIVE, ("[5, 3]", "5"), "hidden must list widths"),
        (ADDITIVE, ("steps = 7", "steps = true"), "steps must be int"),
        (ADDITIVE, ("seed = 4", "seed = 4.5"), "plan.seed must be a whole number"),
        (ADDITIVE, ("seed = 4", "seed = -4"), "plan.seed is -4"),
        (ADDITIVE, ('"scores"', '"walk"'), "additive has 'scores'"),
        (ADDITIVE, ("coordinator =", "arbiter ="), "the plan has no coordinator party"),
        (SPLIT, ("[12, 6]", "[]"), "at least the output's width"),
        (SPLIT, ("passive =", "arbiter ="), "the plan has no passive party"),
    ],
)
def test_a_plan_of_networks_that_cannot_work_is_refused(
    tmp_path: Path, text: str, change: tuple[str, str], why: str
) -> None:
    with pytest.raises(SpecError, match=why):
        loaded(tmp_path, text.replace(*change), "active")


@pytest.mark.parametrize(
    ("change", "name", "error", "why"),
    [
        (("rounds = 7", "round = 7"), "active", UsageError, "Did you mean 'rounds'"),
        (("rounds = 7", "rounds = 7.5"), "active", SpecError, "rounds must be int"),
        (("pack = false", "pack = 1"), "active", SpecError, "pack must be bool"),
        (("3072", "512"), "active", SpecError, "key_bits is 512"),
        (("align = true", "align = 1"), "active", SpecError, "align must be true or false"),
        (('id = "id"', ""), "passive", UsageError, "own.id is missing"),
        (('target = "y"', ""), "active", UsageError, "own.target is missing"),
        (("passive-2", "arbiter"), "active", SpecError, "secure-boost has no arbiter"),
        (("align = true", 'prediction = "plain"'), "active", SpecError, "has 'walk'"),
        (("secure-boost", "secure-bost"), "active", SpecError, "Did you mean 'secure-boost'"),
    ],
)
def test_a_boosting_plan_that_cannot_work_is_refused(
    tmp_path: Path, change: tuple[str, str], name: str, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        loaded(tmp_path, BOOST.replace(*change), name)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('averaging = "shared"', ""), "share a secret key, which leaves no process"),
        (('client-2 = "127.0.0.1:1"', ""), "at least 2 clients"),
        (("client-2", "passive"), "horizontal has no passive"),
        (("[plan.settings]", "align = true\n[plan.settings]"), "neither prediction nor align"),
    ],
)
def test_a_horizontal_plan_that_cannot_work_is_refused(
    tmp_path: Path, change: tuple[str, str], why: str
) -> None:
    with pytest.raises(SpecError, match=why):
        loaded(tmp_path, HORIZONTAL.replace(*change), "client-1")


def test_the_digest_is_of_all_that_must_agree(tmp_path: Path) -> None:
    digest = loaded(tmp_path, BOOST, "active").plan.digest
    for change in (
        ("rounds = 7", "rounds = 8"),
        ("pack = false", ""),
        ("align = true", ""),
        ("align = true", "align = true\nseed = 1"),
    ):
        assert loaded(tmp_path, BOOST.replace(*change), "active").plan.digest != digest
    moved = BOOST.replace("127.0.0.1:1", "127.0.0.1:9").replace('table = "t.csv"', 'table = "u"')
    assert loaded(tmp_path, moved, "active").plan.digest == digest


def test_keys_for_clients(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="needs cryptography")
    done = CliRunner().invoke(app, ["keys", "--out", str(tmp_path / "keys"), "--clients", "3"])
    assert done.exit_code == 0, done.output
    names = {path.name for path in (tmp_path / "keys").iterdir()}
    assert names == {"arbiter", "client-1", "client-2", "client-3"}
    refused = CliRunner().invoke(app, ["keys", "--out", str(tmp_path / "one"), "--clients", "1"])
    assert isinstance(refused.exception, UsageError)
