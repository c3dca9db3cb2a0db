"""Truth beside guess for a few records: only where the user asked to see values."""

from __future__ import annotations

from whatleaks.arrays import Floats, sealed
from whatleaks.trial.measures import Done
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.stage import Stage


def samples(
    scenario: Scenario, done: Done, columns: tuple[str, ...]
) -> tuple[tuple[float, float, str, str], ...]:
    """Show truth beside guess for a few records of the worst column."""
    if not scenario.shown or of_pictures(scenario):
        return ()
    apart = done.evaluator.apart()
    found = [
        (value, s.name, j)
        for s in done.scored
        if isinstance(s, Scored) and s.role == "attack"
        for j, value in enumerate(s.followed(apart).value.tolist())
    ]
    if not found:
        return ()
    _, name, column = max(found, key=lambda entry: entry[0])
    pairs = done.evaluator.samples(done.answers[name], column, scenario.shown)
    return tuple((*pair, columns[column], name) for pair in pairs)


def of_pictures(scenario: Scenario) -> bool:
    """Say whether the columns are pixels."""
    return bool(scenario.prepared("prepare") == "pictures")


def pictures(scenario: Scenario, done: Done, stage: Stage) -> tuple[tuple[str, Floats], ...]:
    """Show a few pictures beside what every attack makes of them."""
    attacks = [s.name for s in done.scored if s.role == "attack" and isinstance(s, Scored)]
    if not scenario.shown or not of_pictures(scenario) or not attacks:
        return ()
    pairs = {name: done.evaluator.pictures(done.answers[name], scenario.shown) for name in attacks}
    own = sealed(stage.own[: scenario.shown])
    truth = pairs[attacks[0]][0]
    return (("own", own), ("truth", truth), *((name, guess) for name, (_, guess) in pairs.items()))
