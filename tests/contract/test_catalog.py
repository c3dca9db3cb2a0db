"""Every part of the catalog keeps its kind's contract, without being named here.

A part that is added, in the package or by a plugin, is tried by these tests as it is.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from catalog_page import PAGE, line, own, page
from catalog_views import build, looks, scenario, view_of, views_for
from typer.testing import CliRunner

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.auditor.plan import scenarios, watched
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import KINDS, Card, card, cards
from whatleaks.cli import app
from whatleaks.codec import decode, encode
from whatleaks.defenses.protocol import (
    OPEN,
    DataDefense,
    MessageDefense,
    ParameterDefense,
    ReleaseDefense,
    TrainingDefense,
    WithholdingDefense,
)
from whatleaks.detectors.protocol import Continue, DetectorGrant, Received, Rehearsing
from whatleaks.errors import AttackError
from whatleaks.seeds import Streams
from whatleaks.threat.grants import ModelGrant, TreesGrant
from whatleaks.trial.isolation import GUESSES, IsolatedHijacker, commit
from whatleaks.trial.plan import fits, forms, model_named, models, plan
from whatleaks.trial.trial import run_trial, train
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE
from whatleaks.wire.transcript import Transcript

EVERYTHING = [entry for kind in KINDS for entry in cards(kind)]
GUESSERS = [*cards("attack"), *cards("baseline")]
LISTING = {"hijack": "attacks", "baseline": "attacks"}


def names(entry: Card) -> str:
    return f"{entry.kind}:{entry.name}"


def each(entries: list[Card] | tuple[Card, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", entries, ids=names)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def listings() -> dict[str, list[str]]:
    """The first words of every line of every listing, on a narrow screen."""
    found = {}
    for name in ("attacks", "defenses", "detectors", "threats", "federations"):
        told = CliRunner(env={"COLUMNS": "80"}).invoke(app, [name])
        assert told.exit_code == 0, told.output
        found[name] = [text.split()[0] for text in told.output.splitlines() if text.strip()]
    return found


@pytest.fixture(scope="session")
def audited() -> dict[str, set[str]]:
    """All that some audit of some model under some threat would try, by kind."""
    found: dict[str, set[str]] = {kind: set() for kind in KINDS}
    handed = [watched(form, threat.name) for form in forms() for threat in cards("threat")]
    for look in [*looks(), *(one for one in handed if one is not None)]:
        given = "0" * 64 if look.model in forms() else ""
        # Compared, so that those too are tried that train on ciphertexts again.
        spec = AuditSpec(
            "y",
            ("a",),
            look.model,
            (look.threat.name,),
            seeds=1,
            given=given,
            compare_defenses=True,
        )
        for planned in scenarios(spec, "table", "0" * 64):
            for name in planned.attacks:
                found["attack"].add(name)
                found["hijack"].add(name)
            found["defense"].add(planned.defense)
            found["detector"].add(planned.detector)
            found["threat"].add(planned.threat)
            found["federation"].add(model_named(planned.model)[0].name)
            if "baselines" in planned.references:
                found["baseline"] |= {c.name for c in cards("baseline") if fits(c, look.view)}
    return found


@each(EVERYTHING)
def test_it_is_listed_under_its_whole_name(entry: Card, listings: dict[str, list[str]]) -> None:
    assert entry.name in listings[LISTING.get(entry.kind, f"{entry.kind}s")]


@each(EVERYTHING)
def test_it_says_what_it_is(entry: Card) -> None:
    assert entry.title
    assert entry.needs or entry.kind in ("detector", "federation", "threat")
    assert card(entry.kind, entry.name) is entry


@each([entry for kind in KINDS for entry in own(kind)])
def test_it_has_a_line_in_the_docs(entry: Card) -> None:
    assert line(entry) in PAGE.read_text().splitlines()


def test_the_page_of_the_catalog_is_up_to_date() -> None:
    again = "python tests/contract/catalog_page.py"
    assert PAGE.read_text() == page(), f"write it anew with {again}"


@each(EVERYTHING)
def test_some_audit_tries_it(entry: Card, audited: dict[str, set[str]]) -> None:
    assert entry.name in audited[entry.kind]


@each(GUESSERS)
def test_equal_views_give_equal_guesses_here_and_isolated(entry: Card) -> None:
    part = build(entry)
    assert part.name == entry.name
    assert encode(decode(encode(part))) == encode(part)  # it travels
    answered = 0
    for where, view in views_for(entry).items():
        before = encode(view)
        try:
            first, second = (commit(part, view, rng()).guess for _ in range(2))
        except AttackError:
            with pytest.raises(AttackError):
                commit(part, view, rng())
            continue
        assert isinstance(first, GUESSES)
        assert encode(first) == encode(second), where
        assert encode(view) == before, f"{where}: the view was written to"
        if not answered:
            apart = commit(part, view, rng(), isolated=True)
            assert apart.isolated
            assert encode(apart.guess) == encode(first), where
        answered += 1
    assert answered, "it refused every view that it says it takes"


@each(cards("hijack"))
def test_a_hijacker_takes_the_same_home_when_it_is_isolated(entry: Card) -> None:
    part = build(entry)
    assert part.name == entry.name
    assert encode(decode(encode(part))) == encode(part)
    look = next(one for one in looks() if one.threat.malicious and one.federation.hijackable)
    wanted = scenario(look, [entry.name])
    parts = plan(wanted)
    read = []
    for hijacker in (part, IsolatedHijacker(part)):
        trained = train(wanted, replace(parts, hijacker=hijacker), None)
        assert not isinstance(trained, str)
        read.append(encode(trained.trained.reading))
    assert read[0] == read[1]
    here, apart = (run_trial(scenario(look, [entry.name], isolated=i)) for i in (False, True))
    assert here.outcome == apart.outcome
    assert entry.name in here.outcome.measurements


@each(cards("defense"))
def test_a_defense_keeps_the_shape_and_the_range_of_what_it_changes(entry: Card) -> None:
    defense = entry.build()
    assert defense.name == entry.name
    scores = rng(1).dirichlet(np.ones(3), size=40)
    own_columns, theirs = rng(2).random((40, 3)), rng(3).random((40, 4))
    if isinstance(defense, ReleaseDefense):
        first, second = (defense.release(sealed(scores), rng()) for _ in range(2))
        assert first.shape == scores.shape
        assert ((first >= 0.0) & (first <= 1.0)).all()
        assert np.array_equal(first, second)
    elif isinstance(defense, DataDefense):
        kept = [defense.keep(sealed(own_columns), sealed(theirs)) for _ in range(2)]
        assert kept[0].shape == (4,)
        assert kept[0].dtype == np.bool_
        assert np.array_equal(*kept)
    elif isinstance(defense, TrainingDefense):
        adapted = [(given, defense.adapt(given)) for _, given in models().values()]
        fitting = [(given, changed) for given, changed in adapted if changed is not None]
        assert fitting, "it fits no federation"
        for given, changed in fitting:
            assert type(changed) is type(given)
            assert changed != given
            assert changed == defense.adapt(given)
    elif isinstance(defense, MessageDefense):
        first, second = (defense.alter("passive", "outputs", sealed(theirs), rng()) for _ in "ab")
        assert first.shape == theirs.shape
        assert np.isfinite(first).all()
        assert np.array_equal(first, second)
    elif isinstance(defense, WithholdingDefense):

        def simulate(attack: str, own: Any, released: Any) -> Any:
            assert any(one.name == attack for one in cards("attack"))
            return np.full((len(own), 4), 0.5)

        allowed = [defense.allow(own_columns, theirs, scores, simulate) for _ in range(2)]
        assert allowed[0].shape == (40,)
        assert allowed[0].dtype == np.bool_
        assert np.array_equal(*allowed)
        everything = defense.allow(own_columns, theirs, scores, lambda a, o, s: theirs[: len(o)])
        assert not everything.any(), "an attack that is right must be withheld from"
    else:
        assert isinstance(defense, ParameterDefense)
        blurred = 0
        for look in looks():
            trained = train(scenario(look), plan(scenario(look)), None)
            assert not isinstance(trained, str)
            for grant in trained.trained.offer((ACTIVE,)):
                if isinstance(grant, ModelGrant | TreesGrant) and defense.fits(type(grant)):
                    held = trained.data.holdings
                    columns = held.joined(held.victims((ACTIVE,)), trained.rows.training)
                    first, second = (defense.disclose(grant, columns, rng()) for _ in range(2))
                    assert type(first) is type(grant)
                    assert encode(first) == encode(second)
                    blurred += 1
        assert blurred


@each(cards("detector"))
def test_a_detector_starts_clean_and_does_not_halt_on_what_it_sees_first(entry: Card) -> None:
    told = {"classes": 3} if entry.takes("classes") else {}
    detector = entry.build(**told)
    assert detector.name == entry.name
    assert all(grant.value for grant in detector.grants)

    labels = sealed_ints([0, 1] * 4) if DetectorGrant.LABELS in detector.grants else None
    rehearsed = tuple(sealed(rng(i).random((60, 8))) for i in range(5))

    def watched() -> list[Any]:
        chance, told = rng(), []
        rehearsing = isinstance(detector, Rehearsing)
        watch = detector.compare(rehearsed) if rehearsing else detector.start()
        for step in range(60):
            probe = watch.choose(step, 8, chance)
            gradient = chance.normal(size=(8, 4))
            received = Received(gradient, gradient.ravel(), labels)
            told.append(watch.observe(step, received, probe, chance))
        return told

    first = watched()
    assert isinstance(first[0], Continue)
    assert watched() == first  # nothing is left of the run before


@each(cards("federation"))
def test_a_federation_trains_and_its_three_doors_answer(entry: Card) -> None:
    mine = [look for look in looks() if look.name == entry.name]
    assert {look.model for look in mine} == set(entry.part.models), "no threat looks at it"
    for model in entry.part.models:
        look = next(one for one in mine if one.model == model)
        wanted = scenario(look)
        parts = plan(wanted)
        assert is_dataclass(parts.settings)
        assert isinstance(parts.settings, entry.part.settings_type)
        done = train(wanted, parts, None)
        assert not isinstance(done, str)
        trained, rows = done.trained, done.rows.targets
        heard = Channel(Transcript([ACTIVE]))
        scores = trained.release(rows, heard, OPEN)
        assert scores is None or encode(decode(encode(scores))) == encode(scores)
        received = list(heard.transcript.received_by(ACTIVE))
        if parts.federation.recorded:
            received += done.channel.transcript.received_by(ACTIVE)
        assert entry.part.shows <= {message.kind for message in received}
        offer = trained.offer((ACTIVE,))
        assert {type(grant) for grant in offer} == set(parts.federation.offers(parts.settings))
        for door in (*offer, *trained.memory(ACTIVE)):
            assert encode(decode(encode(door))) == encode(door)
        classes = trained.classes(rows, OPEN)
        assert classes is None or classes.shape == rows.shape
        assert trained.stop is None
        holdings, streams = done.data.holdings, Streams(wanted.seed)
        alone = parts.federation.alone(holdings, done.rows, parts.settings, streams)
        assert alone.shape == done.rows.judged.shape


@each(cards("threat"))
def test_a_threat_is_a_sentence_and_shows_some_federation(entry: Card) -> None:
    threat = entry.part
    assert repr(threat) == entry.title
    assert repr(threat).startswith("The ")
    assert repr(threat).endswith(".")
    shown = [look for look in looks() if look.threat.name == entry.name]
    assert shown, "it looks at no federation"
    for view in threat.views:
        assert view.__doc__
        assert all(issubclass(need, tuple(threat.grants)) for need in view.needs)
    for look in shown:
        view = view_of(look)
        assert type(view) is look.view
        assert encode(decode(encode(view))) == encode(view)
        evidence = view.evidence()
        assert evidence.ndim == 2
        assert len(evidence) == len(view.own)
        with pytest.raises(AttributeError):
            setattr(view, fields(view)[0].name, None)
