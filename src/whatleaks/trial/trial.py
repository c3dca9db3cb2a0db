"""The one flow: prepare, train, defend, stage, attack, score.

Everything that runs an attack comes through here. Scenarios that share a training train
once. What a trial knows of single records (errors, hits) is kept apart from its outcome: from
errors and a column's average the values follow, so they are as secret as the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.baselines import ShapeView
from whatleaks.catalog import cards
from whatleaks.codec import decode, encode
from whatleaks.data.holdings import Rows, choose_rows, with_earlier, with_known, with_made_up
from whatleaks.data.table import beside_table, unpack_table
from whatleaks.defenses.protocol import (
    OPEN,
    DataDefense,
    Guard,
    MessageDefense,
    ParameterDefense,
    ReleaseDefense,
    TrainingDefense,
    WithholdingDefense,
)
from whatleaks.errors import AttackError, SpecError
from whatleaks.federation.protocol import Trained, likeliest
from whatleaks.metrics.intervals import mean_over_records, wilson
from whatleaks.models.adapters.given import GivenModel
from whatleaks.models.forest import Forest
from whatleaks.models.tree import Tree
from whatleaks.seeds import Streams
from whatleaks.threat.grants import (
    Auxiliary,
    ChosenParts,
    EarlierScores,
    ForestModel,
    KnownPeople,
    TreeModel,
    sentences,
)
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.model import LABEL
from whatleaks.trial.control import SUFFIX, exchanged_view
from whatleaks.trial.evaluator import AnyScored, Evaluator
from whatleaks.trial.isolation import IsolatedHijacker, commit, is_foreign, stream_of
from whatleaks.trial.limit import WIDE, bounded, learnt_from
from whatleaks.trial.measures import Done, measure, numbers_of
from whatleaks.trial.outcome import Outcome, Quantity
from whatleaks.trial.phases import Phases
from whatleaks.trial.plan import Plan, fits, plan
from whatleaks.trial.prepared_before import ready_once, trained_once
from whatleaks.trial.preparing import filtered
from whatleaks.trial.ready import Ready
from whatleaks.trial.records import PerRecord, Trial, no_records
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.branches import BranchScored
from whatleaks.trial.scorers.values import Scored, without_cells
from whatleaks.trial.shown import of_pictures, pictures, samples
from whatleaks.trial.stage import Stage, simulation
from whatleaks.trial.truth import Committed, Truth
from whatleaks.wire.channel import Alter, Channel
from whatleaks.wire.parties import ACTIVE, HELPERS
from whatleaks.wire.transcript import Transcript

if TYPE_CHECKING:
    import pandas as pd

VALUE_ERROR = "value error"  # how far the model's value of a numeric label is off, on average
MEAN_ERROR = "value error of the mean"
MOST_FREQUENT = "most frequent label"
BOUNDED = (
    f"The limit's forest was bounded: with more than {WIDE} columns it looks at the {WIDE} that "
    "tell most and splits by mixtures of the unknown ones."
)
ASKED_AGAIN = "Every record was asked about {} times more, each time with another own part."
FEWEST_AUXILIARY = 10
FEWEST_ATTACKED = 2  # one record has no differences to follow


@dataclass(frozen=True)
class _Training:
    """Something trained, with all that it was trained on."""

    data: Ready
    rows: Rows
    trained: Trained
    channel: Channel


def perform(scenarios: Sequence[Scenario], table: bytes | None) -> Iterator[tuple[Outcome, bytes]]:
    """Run scenarios one after another for a worker: outcomes, and private parts as bytes."""
    frame = None if table is None else unpack_table(table)
    beside = b"" if table is None else beside_table(table)
    for done in run_group(scenarios, frame, decode(beside) if beside else None, table):
        yield done.outcome, encode(done.records)


def run_group(
    scenarios: Sequence[Scenario],
    table: pd.DataFrame | None = None,
    given: GivenModel | None = None,
    packed: bytes | None = None,
) -> Iterator[Trial]:
    """Run scenarios in turn; those with the training of the one before reuse it.

    ``given`` is the model of those scenarios that name one by its hash; ``packed`` the bytes that the
    table was read from: what was prepared from the same ones is not prepared again.
    """
    held: tuple[str, _Training | str] | None = None
    for scenario in scenarios:
        key = scenario.training_key()
        parts = plan(scenario)
        clock = Phases()
        if held is None or held[0] != key:
            held = None  # first: two trainings might not fit
            make = partial(train, scenario, parts, table, clock, given, packed)
            held = (key, trained_once(key, packed, make))
        training = held[1]
        if isinstance(training, str):  # a defense that has nothing to do here
            yield Trial(Outcome({}, notes=(training,)), no_records())
        else:
            yield attack(scenario, parts, training, clock)


def run_trial(
    scenario: Scenario, table: pd.DataFrame | None = None, given: GivenModel | None = None
) -> Trial:
    """Run one scenario."""
    return next(run_group([scenario], table, given))


def train(
    scenario: Scenario,
    parts: Plan,
    table: pd.DataFrame | None,
    clock: Phases | None = None,
    given: GivenModel | None = None,
    packed: bytes | None = None,
) -> _Training | str:
    """Prepare the data and train; data, training and message defenses act here."""
    if given is not None and scenario.given and given.digest() != scenario.given:
        raise SpecError("the model that was given along is not the one that the scenario names")
    given = given if scenario.given else None
    clock = clock or Phases()
    with clock("prepare"):
        data = ready_once(scenario, table, given, packed)
    streams = _streams(scenario)
    if isinstance(parts.defense, DataDefense):
        left = filtered(data, parts.defense)
        if isinstance(left, str):
            return left
        data = left
    if _makes_up(scenario, parts):
        made = with_made_up(
            data.holdings, scenario.known, scenario.known_from, streams.rng("made-up people")
        )
        data = replace(data, holdings=made)
    settings = parts.settings
    if isinstance(parts.defense, TrainingDefense):
        settings = parts.defense.adapt(settings)
    if data.given is not None:
        settings = replace(settings, model=data.given)
    holdings = data.holdings
    rows = _rows(scenario, parts, data, streams)
    heard = (
        (ACTIVE, *parts.threat.adversary, *scenario.coalition) if parts.federation.recorded else ()
    )
    channel = Channel(Transcript(heard), _altered(parts, streams, "messages/training"))
    hijacker = parts.hijacker
    if hijacker is not None and scenario.isolated:
        hijacker = IsolatedHijacker(hijacker)
    detector = None
    if parts.detector is not None:
        told = {"classes": holdings.classes} if parts.detector.takes("classes") else {}
        detector = parts.detector.build(**told, **dict(scenario.detector_options))
    with clock("train"):
        trained = parts.federation.train(
            holdings,
            rows,
            settings,
            streams,
            channel,
            hijacker=hijacker,
            detector=detector,
        )
    return _Training(data, rows, trained, channel)


def _rows(scenario: Scenario, parts: Plan, data: Ready, streams: Streams) -> Rows:
    """Choose who trains, who is attacked, whose records the adversary is given."""
    training = data.training
    auxiliary = sealed_ints([])
    if Auxiliary in parts.threat.grants:
        order: Ints = streams.rng("auxiliary").permutation(training)
        share = scenario.auxiliary / (1 + scenario.auxiliary)
        count = max(FEWEST_AUXILIARY, int(np.ceil(len(order) * share)))
        count = min(count, len(order) - 1)
        auxiliary, training = sealed_ints(order[:count]), sealed_ints(order[count:])
        auxiliary = data.auxiliary if len(data.auxiliary) else auxiliary
    if scenario.part:
        order = streams.rng("targets").permutation(data.pool)
        made_up = scenario.known if _makes_up(scenario, parts) else 0
        wanted = round(
            scenario.part * (len(data.holdings.labels) - made_up)
        )  # a split by class may leave less
        targets = sealed_ints(order[:wanted])
        chosen = Rows(training, targets, sealed_ints([]), auxiliary, targets)
    else:
        most = scenario.targets or len(data.pool)
        chosen = choose_rows(training, data.pool, most, streams.rng("targets"))
        chosen = replace(chosen, auxiliary=auxiliary)
    rows = parts.federation.choose_rows(data.holdings, chosen, data.pool, parts.settings, streams)
    if _makes_up(scenario, parts):  # they were appended to the tables
        everybody = len(data.holdings.labels)
        rows = replace(rows, known=sealed_ints(range(everybody - scenario.known, everybody)))
    elif KnownPeople in parts.threat.grants:
        rows = with_known(rows, scenario.known, streams.rng("known"))
    if EarlierScores in parts.threat.grants:
        rows = with_earlier(rows, scenario.earlier, streams.rng("earlier"))
    if np.isin(rows.known, rows.targets).any():
        raise SpecError("a person whom the adversary knows would be attacked: nobody may be both")
    return rows


def _makes_up(scenario: Scenario, parts: Plan) -> bool:
    return bool(scenario.known_from) and KnownPeople in parts.threat.grants


def attack(
    scenario: Scenario, parts: Plan, training: _Training, clock: Phases | None = None
) -> Trial:
    """Stage the scenario's threat, let every attack commit once, score, add the references."""
    clock = clock or Phases()
    streams = _streams(scenario)
    rows = _rows(scenario, parts, training.data, streams)  # targets may differ, training not
    stage = _stage(scenario, parts, replace(training, rows=rows), streams)
    shown = stage.released()
    attacked = bool(scenario.attacks) or not parts.threat.malicious  # honest training: nobody
    done, notes = None, list(training.trained.notes())
    if attacked and len(shown.rows.targets) >= FEWEST_ATTACKED:
        done, refused = _guess(scenario, parts, shown, streams, clock)
        notes += refused
        if ChosenParts in parts.threat.grants:
            notes.append(ASKED_AGAIN.format(scenario.questions))
    correct, alone = stage.correct(), sealed_ints([])
    joint = own_scores = sealed(np.zeros((0, 0)))
    missed = missed_alone = None
    if "joining" in scenario.references:
        # Alone it would train on all of its records, those too that are granted here.
        own = np.sort(np.concatenate([rows.training, rows.auxiliary]))
        everybody = replace(rows, training=sealed_ints(own)) if len(rows.auxiliary) else rows
        asked = (stage.holdings, everybody, parts.settings, streams)
        with clock("train alone"):
            scores, together = parts.federation.alone_scores(*asked), stage.scores()
            classes = parts.federation.alone(*asked) if scores is None else likeliest(scores)
        alone = sealed_ints(classes == stage.holdings.labels[rows.judged])
        if scores is not None and together is not None:
            joint, own_scores = sealed(together), sealed(scores)
        missed = stage.value_errors()
        if missed is not None:
            values = parts.federation.alone_values(*asked[:3])
            missed_alone = stage.value_errors_of(classes, values)
    measured = _about(stage, shown, correct)
    if len(alone):
        measured["accuracy alone"] = wilson(int(alone.sum()), len(alone), "accuracy")
    baselines: dict[str, Quantity] = {}
    columns = stage.holdings.joined_names(stage.victims)
    if done is not None:
        with clock("measure"):
            notes += _measured(scenario, done, measured, baselines)
    kept = [] if done is None else done.scored
    scored = [s for s in kept if isinstance(s, Scored)]
    whole = of_pictures(scenario)  # pictures are judged one by one: nobody asks about a pixel
    records = PerRecord(
        columns,
        sealed(np.zeros((0, len(columns)))) if done is None or whole else done.evaluator.apart(),
        tuple(without_cells(s) if whole else s for s in (*scored, *_constant(scenario, done))),
        tuple(s for s in kept if isinstance(s, BranchScored)),
        sealed_ints([]) if correct is None else correct,
        alone,
        len(rows.targets),
        len(rows.training),
        () if done is None else samples(scenario, done, columns),
        clock.told(),
        joint,
        own_scores,
        sealed_ints(stage.holdings.labels[rows.judged] if len(alone) else []),
        rows.judged if len(alone) else sealed_ints([]),
        training.data.spans_of(columns),
        len(rows.auxiliary) or len(shown.rows.known),
        *training.data.group_of(shown.rows.targets),
        () if done is None else pictures(scenario, done, shown),
        sealed(np.zeros(0)) if missed is None else missed[0],
        sealed(np.zeros(0)) if missed_alone is None else missed_alone,
    )
    granted = sentences(parts.threat.grants) if attacked else ()
    stop = training.trained.stop
    return Trial(Outcome(measured, baselines, granted, stop, tuple(notes)), records)


def _constant(scenario: Scenario, done: Done | None) -> tuple[Scored, ...]:
    """Return what one value for everybody reaches, beside every attack that is held against a control."""
    if done is None or "control" not in scenario.references or of_pictures(scenario):
        return ()
    return (done.evaluator.constant(),)


def _measured(
    scenario: Scenario, done: Done, measured: dict[str, Quantity], baselines: dict[str, Quantity]
) -> list[str]:
    """Put the numbers of every guess where they belong; return notes on those that do not exist."""
    notes: list[str] = []
    guesses = [s.name for s in done.scored if s.role != "attack"]
    for scored in done.scored:
        found, said = numbers_of(scored, done.streams)
        (measured if scored.role == "attack" else baselines).update(found)
        notes += said
    for name in scenario.measures:
        found, said = measure(name, done)
        for key, value in found.items():
            of_guess = any(key == guess or key.startswith(f"{guess} ") for guess in guesses)
            (baselines if of_guess else measured)[key] = value
        notes += said
    return notes


def _altered(parts: Plan, streams: Streams, stream: str) -> Alter | None:
    """Return what a message defense does to plain numbers before they are encoded."""
    defense = parts.defense
    if not isinstance(defense, MessageDefense):
        return None
    rng = streams.rng(stream)
    return lambda sender, kind, values: defense.alter(sender, kind, values, rng)


def _streams(scenario: Scenario) -> Streams:
    root = Streams(scenario.seed)
    return root.under(scenario.branch) if scenario.branch else root


def stage_of(scenario: Scenario, parts: Plan, training: _Training) -> Stage:
    """Return the stage of a scenario on something trained: what ``attack`` attacks."""
    return _stage(scenario, parts, training, _streams(scenario))


def _stage(scenario: Scenario, parts: Plan, training: _Training, streams: Streams) -> Stage:
    defense = parts.defense
    coalition = tuple(dict.fromkeys((*parts.threat.adversary, *scenario.coalition)))
    for party in coalition:
        if party not in training.data.holdings.columns and party not in HELPERS:
            raise SpecError(f"coalition: there is no party {party!r} in this federation")
    holdings = training.data.holdings
    if parts.threat.wants == LABEL:
        holdings = holdings.with_label(LABEL, scenario.prepared("label") or LABEL)
    elif not holdings.victims(coalition):
        raise SpecError("coalition: every passive party is in it, so nobody is attacked")
    altered = _altered(parts, streams, "messages/release")
    if isinstance(defense, ReleaseDefense) and defense.learns and len(training.rows.training):
        silent = Channel(Transcript([]))
        scores = training.trained.release(training.rows.training, silent, OPEN)
        defense = defense if scores is None else defense.learnt(scores)
    stage = Stage(
        holdings,
        training.rows,
        training.trained,
        training.channel.transcript if parts.federation.recorded else None,
        parts.threat,
        parts.view,
        coalition,
        streams,
        Guard(
            (defense,) if isinstance(defense, ReleaseDefense) else (),
            defense if isinstance(defense, WithholdingDefense) else None,
            streams.rng("release"),
            alter=altered,
        ),
        defense if isinstance(defense, ParameterDefense) else None,
        altered,
        scenario.asks,
        scenario.questions,
    )
    if stage.guard.gate is None:
        return stage
    simulate = simulation(stage, scenario.attack_options)
    return replace(stage, guard=replace(stage.guard, simulate=simulate))


def _about(stage: Stage, shown: Stage, correct: Ints | None) -> dict[str, Quantity]:
    """Return what a record says about the trial whatever was guessed."""
    asked, left = len(stage.rows.targets), len(shown.rows.targets)
    measured: dict[str, Quantity] = {
        "unknown": sum(stage.holdings.columns[p].shape[1] for p in stage.victims),
        "classes": stage.holdings.classes,
        "records": asked,
        **stage.trained.facts(),
    }
    if correct is not None and len(correct):
        measured["accuracy"] = wilson(int(correct.sum()), len(correct), "accuracy")
    if stage.threat.wants == LABEL and stage.holdings.target is None:
        most = np.bincount(stage.holdings.labels[stage.rows.targets]).max(initial=0)
        measured[MOST_FREQUENT] = wilson(int(most), asked, "share of people")
    missed = stage.value_errors()
    if missed is not None:
        for name, errors in zip((VALUE_ERROR, MEAN_ERROR), missed, strict=True):
            rng = stage.streams.rng(f"interval/{name}")
            measured[name] = mean_over_records(errors, "share of the range", rng)
    if stage.guard.gate is not None:
        measured["withheld"] = wilson(asked - left, asked, "share")
    return measured


def _guess(
    scenario: Scenario, parts: Plan, stage: Stage, streams: Streams, clock: Phases
) -> tuple[Done, list[str]]:
    """Let attacks and baselines commit on the projected view, and learn the limits."""
    others, _ = _teachers(stage, streams)
    evaluator = Evaluator(_truth(stage, others))
    with clock("release"):
        view = stage.view(stage.rows.targets)
    answers: dict[str, Committed] = {}
    scored: list[AnyScored] = []
    notes: list[str] = []
    name = parts.threat.name
    swapped = None
    if "control" in scenario.references:
        targets = stage.rows.targets
        alike = stage.holdings.labels[targets] if stage.holds_labels else None
        luck = streams.rng("control")
        swapped = exchanged_view(view, len(targets), luck, alike, stage.replayed)
    guessers = list(parts.attacks)
    if parts.hijacker is not None:
        guessers.insert(0, stage.trained.reading)
    for one in guessers:
        stream = stream_of(name, one)
        try:
            with clock(one.name):
                answer = commit(one, view, streams.rng(stream), isolated=scenario.isolated)
        except AttackError as refused:
            notes.append(f"{one.name}: {refused}")
            continue
        scored.append(evaluator.score(answer, "attack"))
        answers[one.name] = answer
        if swapped is not None and isinstance(answer.guess, ValueGuess):
            with clock(f"{one.name} control"):
                again: Committed | None = answer
                if swapped is not view:
                    again = _again(one, swapped, streams, stream, scenario.isolated)
            if again is not None:
                again = replace(again, name=one.name + SUFFIX)
                scored.append(evaluator.score(again, "control"))
    if "baselines" in scenario.references:
        shape = ShapeView(*stage.truth.shape)
        for card in cards("baseline"):
            if card.name in answers or not card.here or not fits(card, parts.view):
                continue
            if getattr(card.part, "pictures", False) and not of_pictures(scenario):
                continue
            one = card.build()
            blind = getattr(card.view, "blind", False)
            answer = commit(
                one,
                shape if blind else view,
                streams.rng(f"baseline/{getattr(one, 'stream', one.name)}"),
                # Our own that see nothing need no walls.
                isolated=scenario.isolated and (not blind or is_foreign(one)),
            )
            scored.append(evaluator.score(answer, "baseline"))
            answers[one.name] = answer
    if "limit" in scenario.references:
        evidence = _with_labels(view.evidence(), stage, stage.rows.targets)
        seen_of = evidence[:0]
        if len(others):
            seen_of = _with_labels(stage.view(others).evidence(), stage, others)
        if bounded(evidence.shape[1], stage.truth.shape[1]):
            notes.append(BOUNDED)
        with clock("limit"):
            scored.append(evaluator.limit(evidence, seen_of, _teachers(stage, streams)[1]))
    if "alone" in scenario.references:
        own, other_own = (
            _with_labels(stage.holdings.joined(stage.members, rows), stage, rows)
            for rows in (stage.rows.targets, others)
        )
        with clock("limit alone"):
            luck = _teachers(stage, streams)[1]
            scored.append(evaluator.limit(own, other_own, luck, "alone"))
    return Done(stage, view, evaluator, answers, scored, streams, guessers), notes


def _teachers(stage: Stage, streams: Streams) -> tuple[Ints, np.random.Generator]:
    """Choose the records that the limit learns from; the luck that is left is the regressor's."""
    rng = streams.rng("limit")
    return sealed_ints(learnt_from(stage.rows.others, rng)), rng


def _with_labels(evidence: Floats, stage: Stage, rows: Ints) -> Floats:
    """Add the labels to what is known of records, where the adversary holds those of the targets."""
    labels = stage.known_labels(rows)
    return sealed(np.concatenate([evidence, labels], axis=1)) if labels.shape[1] else evidence


def _again(
    attack: Any, view: Any, streams: Streams, stream: str, isolated: bool
) -> Committed | None:
    """Let an attack answer once more with the same luck; on messages of others it may refuse."""
    try:
        return commit(attack, view, streams.rng(stream), isolated=isolated)
    except AttackError:
        return None


def _truth(stage: Stage, others: Ints) -> Truth:
    trees: tuple[Tree, ...] = ()
    for grant in stage.trained.offer(stage.coalition):
        if isinstance(grant, TreeModel | ForestModel):
            trees = grant.model.trees if isinstance(grant.model, Forest) else (grant.model,)
    return Truth(
        stage.truth,
        stage.holdings.joined(stage.victims, others),
        stage.own,
        trees,
        stage.trained.outputs(),
        stage.holdings.joined_grids(stage.victims),
    )
