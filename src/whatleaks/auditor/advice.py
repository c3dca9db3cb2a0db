"""How bad it is and what would help: sentences that follow from the findings by rule, not by taste."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from whatleaks.auditor.combine import sees_nothing, stronger
from whatleaks.auditor.levels import (
    ALIKE,
    COMPLETE,
    LOW,
    MORE,
    UNKNOWN,
    UNSETTLED,
    Found,
    Rated,
    attacked,
    comparisons,
    counted,
    learnt,
    level,
    percent,
    rated,
    share,
    told_of_learner,
)
from whatleaks.auditor.people import FEWEST
from whatleaks.auditor.result import (
    NAMED,
    ColumnDefense,
    ColumnFinding,
    Condition,
    DefenseFinding,
    DigitsFinding,
    FollowedAlready,
    Headline,
    People,
    ThreatFinding,
    Unmeasured,
    Worth,
)
from whatleaks.catalog import card, cards
from whatleaks.errors import argument, choice
from whatleaks.metrics.measurement import Measurement
from whatleaks.models.asked_otherwise import QUESTIONS
from whatleaks.threat.grants import (
    Auxiliary,
    ChosenParts,
    KnownPeople,
    KnownValues,
    ModelGrant,
    PassiveNetwork,
    TreesGrant,
)
from whatleaks.threat.model import COLUMNS

ENOUGH = LOW  # a defense that leaves less than this in every column is called effective
REDUCED = 0.5  # if it also takes at least half away: a small leak may be small without it
COST = 0.02  # and cheap if it costs at most two points of accuracy
KNOWN = (
    0.9  # of a column's differences, and of its people's values: so much is the partner's already
)
MOST_TOLD = 6  # columns in a line
# tests/unit/test_asked_otherwise.py: thirty answers undo the class alone, or one digit.
ASKED_OTHERWISE = (
    "A partner that asks about one person again with other own columns: classes and rounded scores then "
    "narrow the exact score down, answer by answer. Answer once for each person. For logistic regression the "
    "threat white-box-asking measures it."
)
ASKED_AGAIN = (
    f"Measured with it in place: a partner that asks about each person {QUESTIONS} times more, each time with "
    "another own part."
)
WHERE_TRIED = "on the seeds and records on which defenses were tried"
READ = 0.01  # relative error below which a sum counts as read
FEW_OF = 0.1  # of the people attacked: a headline that rests on fewer says so
CLEARLY = 0.5  # of the headline: whoever adds at most that share of it stays clearly below


def headline(threats: Sequence[ThreatFinding], untried: Sequence[str] = ()) -> Headline:
    """Find the column in which joining adds most, and say it: once for all, once per condition.

    ``untried``: threats against which no attack could be run here. Nothing is said of them.
    """
    tried = list(attacked(threats))
    compared = comparisons(tried)
    # What a reader can decide about the label is not whether to hand over a model.
    after = {card("threat", threat.name).part.wants for threat in threats}
    decided = ("model", "kept", "records") if COLUMNS in after else ()
    conditions = tuple(_condition(name, threats, compared, untried) for name in decided)
    already, followed = already_known(threats), followed_already(threats)
    if not tried:
        nothing = Measurement(0.0, 0.0, 1.0, 0, "leakage", "records")
        return Headline(
            _no_columns(threats) + _left_out(untried), UNKNOWN, nothing, nothing, "", "", "", False, conditions, already, 1.0,
            followed=followed,
        )  # fmt: skip
    attacks = sum(len(t.of("attack")) for t in threats)
    found = rated(tried, compared, learnt(threats))
    threat, attack, column = found.worst
    if found.word == UNSETTLED and found.learnt is not None and found.differs:
        text = f"What joining adds is unsettled: {found.open}."
    elif found.word == UNSETTLED:
        text = (
            f"What joining adds is unsettled: none of the attacks tried ({attacks}) shows "
            f"{percent(LOW)} or more beyond luck, but {found.unsettled}."
        )
    elif not found.beyond:
        text = (
            f"Joining adds nothing that could be told from luck: none of the attacks tried ({attacks}) "
            "learns more from what it is sent than from the messages of other people."
        )
    elif found.word == "low":
        text = f"Joining adds little: the best of the attacks tried ({attacks}) {_little(found)}."
    elif found.word == "complete":
        text = f"Joining lets your partner read {_exactly(found, tried)}."
    else:
        text = f"Joining adds {share(found.added.measured)}: {_more(found)}"
    if found.word != UNSETTLED and found.open:
        text += f" More, {found.open}."
    few = 0 < column.carried < FEWEST and column.carried <= FEW_OF * column.adds.n
    if found.word not in ("low", UNSETTLED) and few:
        text += (
            f" Most of the differences in “{column.column}” are those of {column.carried} of the "
            f"{column.adds.n} people attacked: with others attacked it may be another number."
        )
    text += _left_out(untried)
    return Headline(
        text, found.word, column.leakage, found.added.measured, threat.name, attack.name,
        column.column, found.beyond, conditions, already, found.up_to, found.open_column,
        found.added.scale, followed, found.learnt, found.differs,
    )  # fmt: skip


def _no_columns(threats: Sequence[ThreatFinding]) -> str:
    """Say that no attack guesses columns, and whether one reads the sum of them of every person."""
    found = [one for threat in threats for one in threat.recovered if one.error < READ]
    if not found:
        return "No attack could be run under the chosen threats, which says nothing about safety."
    best = min(found, key=lambda one: one.error)
    return (
        "No attack tried here guesses your columns one by one, which says nothing about safety. But your "
        f"partner reads the weighted sum of them for each of the {best.records} people who trained "
        f"(relative error {best.error:.0e}): one equation about every person."
    )


def _left_out(untried: Sequence[str]) -> str:
    """Name the threats against which no attack could be run here."""
    names = " and ".join(untried)
    return f" No attack could be tried here under {names}: nothing is said of it." if names else ""


def _named(found: Rated) -> People | None:
    """Return the people of the worst column, where naming them is the scale that decides."""
    return found.worst[2].people if found.added.scale == NAMED else None


def _little(found: Rated) -> str:
    column, people = found.worst[2], _named(found)
    if people is not None:
        return f"names {counted(people)}, in “{column.column}”"
    return (
        f"follows {share(column.adds)} more of the differences between people in "
        f"“{column.column}” than without what it is sent"
    )


def _exactly(found: Rated, tried: Sequence[Found]) -> str:
    """Say which columns are read, those whose values are named apart from those read almost."""
    column, people = found.worst[2], _named(found)
    read: dict[str, bool] = {}
    for _, _, one in tried:
        if level(one) == "complete":
            named = one.people is not None and one.people.named.value >= COMPLETE
            read[one.column] = read.get(one.column, False) or named
    every = {one.column for _, _, one in tried}
    exact = [name for name, named in read.items() if named]
    if not exact:
        return f"{_which(list(read), every)} almost exactly"
    said = f"{_which(exact, every)} exactly"
    if len(exact) < len(read):
        said += f", and {len(read) - len(exact)} more almost exactly"
    if people is None:
        return said
    where = f", in “{column.column}”" if len(read) > 1 else ""
    return f"{said}: it names {counted(people)}{where}"


def _more(found: Rated) -> str:
    """Say what an attack reaches in the worst column, and what is reached without joining, by whom."""
    column, people = found.worst[2], _named(found)
    if people is not None:
        return f"your partner can then name {counted(people)}, in “{column.column}”."
    text = (
        f"with what it is sent an attack follows {share(column.leakage)} of the differences between "
        f"people in “{column.column}”. Without joining this attack follows {share(column.control)}"
    )
    if percent(column.alone) == percent(0.0):
        return f"{text}."
    text += (
        f"; whoever has learnt from complete records of other people follows {percent(column.alone)} "
        "from your partner’s own columns"
    )
    bounded = column.leakage.value - column.control.value > column.adds.value
    return f"{text}, so no more is left to add." if bounded else f"{text}."


def _which(read: Sequence[str], every: Collection[str]) -> str:
    if len(read) == 1:
        return f"column “{read[0]}”"
    return (
        "all of your columns"
        if len(read) == len(every)
        else f"{len(read)} of your {len(every)} columns"
    )


def points(value: float) -> str:
    """Show a difference of two shares."""
    return f"{100 * value:.1f} points"


def already_known(threats: Sequence[ThreatFinding]) -> tuple[str, ...]:
    """Return the columns whose values the partner has without joining: nothing is left to add.

    The values, not only most differences: nine of ten people are named without joining. And the
    differences too: to say no of everybody names nine of ten where one in ten is ill.
    """
    found: dict[str, bool] = {}
    for _, _, column in attacked(threats):
        named = column.people is not None and column.people.named_without.value >= KNOWN
        known = named and _without(column) >= KNOWN and column.worse.measured.value < LOW
        found[column.column] = found.get(column.column, True) and known
    return tuple(column for column, known in found.items() if known)


def followed_already(threats: Sequence[ThreatFinding]) -> tuple[FollowedAlready, ...]:
    """Return the columns whose differences the partner follows without joining, and not the values."""
    found: dict[str, float] = {}
    for _, _, column in attacked(threats):
        known = _without(column)
        found[column.column] = min(found.get(column.column, known), known)
    had = already_known(threats)
    return tuple(
        FollowedAlready(column, known)
        for column, known in found.items()
        if known >= KNOWN and column not in had
    )


def _without(column: ColumnFinding) -> float:
    """Return what is followed without joining, by whoever follows most."""
    return max(column.alone, column.control.value)


def _holds(threat: ThreatFinding, *kinds: type) -> bool:
    grants = card("threat", threat.name).part.grants
    return any(issubclass(kind, kinds) for kind in grants)


def model_granted(threat: ThreatFinding) -> bool:
    """Say whether a threat is given the passive party's part of the model."""
    return _holds(threat, ModelGrant, TreesGrant, PassiveNetwork)


def _condition(
    name: str, threats: Sequence[ThreatFinding], compared: int, untried: Sequence[str]
) -> Condition:
    """Say what joining adds if the model is handed over, if not, if records are shared.

    Who shares records may keep the model: that is the line, and the model besides is added to it.
    Nobody is rated safer for what a partner holds besides: who holds the model may do without it what the
    weaker do, and who holds records may do whatever is tried without any.
    """
    records = [t for t in threats if _holds(t, Auxiliary, KnownValues)]
    both = [t for t in records if model_granted(t)]
    model = [t for t in threats if model_granted(t) and t not in records]
    kept = [t for t in threats if not model_granted(t) and t not in records]
    alone = [t for t in records if t not in both]
    chosen = {
        "model": [*model, *(t for t in kept if any(stronger(one, t) for one in model))],
        "kept": kept,
        "records": [*alone, *kept] if alone else [*both, *model, *kept] if both else [],
    }[name]
    count = max((t.granted for t in records), default=0)
    # Who hijacks a training holds complete records of others, people whom nobody need share.
    shared = not records or any(_holds(t, KnownPeople, KnownValues) for t in records)
    whose = "people you share" if shared else "other people"
    start = {
        "model": "If you hand over your part of the model",
        "kept": "If you keep it",
        "records": f"If your partner holds {count or 'some'} records of {whose}",
    }[name]
    tried, learner = list(attacked(chosen)), learnt(chosen)
    if not tried:
        why = (
            "no attack known here works with what is sent alone, which proves nothing"
            if any(threat.name not in untried for threat in chosen)
            else "not tried"
        )
        why += "" if learner is None else f"; {told_of_learner(learner, unread=False)}"
        return Condition(name, f"{start}: {why}.", "")
    found = rated(tried, compared, learner)
    if found.word == "low" and not any(card("threat", t.name).part.reads for t in chosen):
        # Who is sent nothing about a person learns nothing by joining, whatever the model tells.
        who = " and ".join(t.name for t in chosen)
        why = f"tried only by {who}, who sees no message about a person, which proves nothing"
        return Condition(name, f"{start}: {why}.", "")
    (threat, attack, column), said = found.worst, _told(found)
    if list(attacked(both)) and name == "records" and alone:
        every = [*records, *model, *kept]
        more = rated(list(attacked(every)), compared, learnt(every))
        same = more.word == "low" or _told(more) == said
        said += f"; with your part of the model too: {'the same' if same else _told(more)}"
    return Condition(
        name, f"{start}: {said}.", found.word, found.added.measured, threat.name, attack.name,
        column.column, found.up_to, found.added.scale,
    )  # fmt: skip


def _told(found: Rated) -> str:
    """Say the word, what is added and what is not ruled out."""
    if found.word == UNSETTLED:
        return f"{UNSETTLED}, {found.unsettled}"
    if not found.beyond:
        return f"{found.word}, joining adds nothing that could be told from luck"
    column, people = found.worst[2], _named(found)
    said = f"{found.word}, joining adds {share(found.added.measured)} in “{column.column}”"
    if people is not None:
        said += f" (it names {counted(people)})"
    return f"{said}; {found.open}" if found.open else said


def effective(defense: DefenseFinding) -> bool:
    """Say whether a defense stops the leak of the headline's column and leaves no other one open."""
    pair = defense.column
    if pair is None or pair.before.value < ENOUGH:
        return False
    return (
        pair.after.value < ENOUGH
        and pair.after.value <= REDUCED * pair.before.value
        and defense.worst.after.value < ENOUGH
    )


def leaves_out(defense: DefenseFinding) -> bool:
    """Say whether a defense keeps the headline's column at home and leaves no other one open."""
    return defense.column is None and defense.worst.after.value < ENOUGH


def seen_on_none(defenses: Sequence[DefenseFinding]) -> bool:
    """Say whether so little is read without a defense where these were tried that none can be seen to help."""
    own = [d.column for d in defenses if d.column is not None]
    return bool(own) and all(pair.before.value < ENOUGH for pair in own)


def cost(defense: DefenseFinding) -> float:
    """Return the accuracy that a defense takes."""
    return defense.accuracy_before.value - defense.accuracy.value


def advice(
    head: Headline,
    threats: Sequence[ThreatFinding],
    defenses: Sequence[DefenseFinding],
    digits: DigitsFinding | None = None,
    worth: Worth | None = None,
    silenced: Sequence[str] = (),
) -> tuple[str, ...]:
    """Say what the numbers suggest, most useful first; ``silenced``: defenses that no attack could answer."""
    lines = [] if worth is None else list(_about_worth(head, worth))
    lines += [] if digits is None else _about_digits(digits, head.already)
    lines += _about_silenced(head, silenced)
    lines += _about_defenses(head, threats, defenses, worth)
    if head.already:
        told = ", ".join(f"“{column}”" for column in head.already[:MOST_TOLD])
        rest = len(head.already) - MOST_TOLD
        more = f" and {rest} more" if rest > 0 else ""
        several = len(head.already) > 1
        plural, them = ("these columns", "them") if several else ("this column", "it")
        lines.append(
            f"Your partner already has {plural}: {told}{more}. Its own columns tell {them} without "
            f"joining, so no defense of the federation protects {them}."
        )
    if head.followed:
        told = ", ".join(
            f"{percent(known.share)} of the differences in “{known.column}”"
            for known in head.followed[:MOST_TOLD]
        )
        lines.append(
            f"Your partner can already follow {told}, not the exact values: its own columns tell that "
            "to whoever has learnt from complete records of other people."
        )
    lines += _given_beforehand(threats, head.already)
    lines += _about_the_model(head, threats)
    return tuple(lines)


def silent(unmeasured: Sequence[Unmeasured], threat: str) -> tuple[str, ...]:
    """Return the titles of the defenses that no attack of a threat could answer, or of a stronger one."""
    # Stored threats may be unknown.
    threats = {one.name: one.part for one in cards("threat")} if unmeasured else {}
    return tuple(
        one.title
        for one in unmeasured
        if one.silent
        and (
            one.threat == threat
            or (
                ({one.threat, threat} <= threats.keys())
                and threats[one.threat].covers(threats[threat])
            )
        )
    )


def _about_silenced(head: Headline, silenced: Sequence[str]) -> Iterator[str]:
    """Name the defenses under which no attack finds an answer: they may be the best of all."""
    if silenced and head.level not in ("low", UNSETTLED, UNKNOWN):
        named = " or ".join(f"“{title}”" for title in silenced)
        yield (
            f"With {named} in place no attack tried here finds an answer. What is left was not measured, "
            "which proves nothing; the lines on other defenses leave these out."
        )


def _about_worth(head: Headline, worth: Worth) -> Iterator[str]:
    """Say that something leaks for no gain that could be shown: that decides most easily."""
    if head.level in ("low", UNSETTLED, UNKNOWN) or any(gain.low > 0.0 for _, gain in worth.gains):
        return
    measures = [name for name, _ in worth.gains]
    by = " or ".join(filter(None, (", ".join(measures[:-1]), measures[-1])))
    yield (
        f"No gain is shown for what leaks: the joint model is not better beyond chance by {by}. Not to "
        "join costs nothing that could be seen here."
    )


def _about_the_model(head: Headline, threats: Sequence[ThreatFinding]) -> list[str]:
    """Say that the headline is due to the model, if who does not hold it stays clearly below.

    Neither an attack nor whoever learns from complete records comes near without it.
    """
    granted = [t for t in threats if model_granted(t)]
    others = [t for t in threats if t not in granted]
    little = head.level in ("low", UNSETTLED, UNKNOWN)
    if little or head.threat not in {t.name for t in granted}:
        return []
    if not others:
        return [
            "The attack was given your part of the trained model, and no threat without it was tried. "
            "Ask whether the partner needs it."
        ]
    reached = [column.strength[0] for _, _, column in attacked(others)]
    learner = learnt(others)
    reached += [] if learner is None else [learner.adds.value]
    if max(reached, default=0.0) > CLEARLY * head.adds.value:
        return []
    return ["The attack needs your part of the trained model. Ask whether the partner needs it."]


def _given_beforehand(threats: Sequence[ThreatFinding], already: Sequence[str]) -> list[str]:
    """Name the threats in which what is granted tells as much as the attacks do, in no column less.

    Columns that the partner has anyway are left out.
    """
    under: dict[tuple[str, str], list[str]] = {}
    for threat in threats:
        given = {
            guess.title: [c.leakage.value for c in guess.columns if c.column not in already]
            for guess in threat.of("baseline")
            if not sees_nothing(guess.name)
        }
        follows = {title: sum(held) / len(held) for title, held in given.items() if held}
        most = max((c.strength[0] for _, _, c in attacked([threat])), default=1.0)
        title = max(follows, key=lambda title: follows[title], default="")
        if title and most < LOW <= follows[title]:
            under.setdefault((title, percent(follows[title])), []).append(threat.name)
    return [
        f"Under {' and '.join(names)} what the attacker is given beforehand says as much as the "
        f"attacks do: “{title}” follows {followed} without any federation. What matters is who "
        "holds it."
        for (title, followed), names in under.items()
    ]


def recommended(threat: str, defenses: Sequence[DefenseFinding]) -> DefenseFinding | None:
    """Return the one defense that an audit recommends against a threat, or None.

    Of those that are effective and cheap the one that leaves least.
    """
    good = [d for d in defenses if threat in d.against and effective(d) and cost(d) <= COST]
    return min(good, key=lambda d: d.worst.after.value, default=None)


def cheapest(threat: str, defenses: Sequence[DefenseFinding]) -> DefenseFinding | None:
    """Return the defense that stops a threat's leak for the least accuracy, or None."""
    good = [d for d in defenses if threat in d.against and effective(d)]
    return min(good, key=cost, default=None)


def in_between(
    threat: str, named: DefenseFinding, defenses: Sequence[DefenseFinding]
) -> DefenseFinding | None:
    """Return what leaves least of the cheap defenses, where the one that is named costs more, or None.

    It takes away more than chance would.
    """
    cheap = [
        d
        for d in defenses
        if threat in d.against
        and cost(d) <= COST < cost(named)
        and d.column is not None
        and d.column.after.high < d.column.before.low
    ]
    return min(cheap, key=lambda d: d.worst.after.value, default=None)


def _price(defense: DefenseFinding, worth: Worth | None) -> str:
    """Say what a defense costs, and where nothing is left of what joining is worth."""
    if cost(defense) <= COST:
        lost = points(max(cost(defense), 0.0))
        return "at no cost of accuracy" if lost == points(0.0) else f"at {lost} of accuracy"
    said = f"but the joint model loses {points(cost(defense))} of accuracy: "
    if worth is not None and defense.accuracy.value <= worth.accuracy_alone.value:
        return (
            f"{said}it is right in {percent(defense.accuracy.value, 1)} of cases, without joining in "
            f"{percent(worth.accuracy_alone.value, 1)}, so nothing is left of what joining is worth"
        )
    return f"{said}weigh it against what joining is worth"


def _asked_again(defense: DefenseFinding, threat: str) -> list[str]:
    """Say of a defense of scores whether anybody asked about the same people again."""
    if defense.acts_on != "release":
        return []
    if asks_again(threat):
        return [ASKED_AGAIN]
    return [f"Not tried against it: {ASKED_OTHERWISE[:1].lower()}{ASKED_OTHERWISE[1:]}"]


def _cheaper(found: DefenseFinding | None, threat: str, worth: Worth | None) -> list[str]:
    """Name what leaves least of the defenses that cost little, where the one named before costs more."""
    if found is None:
        return []
    return [
        f"Of those that cost at most {points(COST)} of accuracy, “{found.title}” leaves least: "
        f"{_left(found.worst)}, {_price(found, worth)}.",
        *_asked_again(found, threat),
    ]


def _about_defenses(
    head: Headline,
    threats: Sequence[ThreatFinding],
    defenses: Sequence[DefenseFinding],
    worth: Worth | None,
) -> list[str]:
    """Recommend the cheapest defense that stops the headline's leak, or say why there is none."""
    if head.level == UNKNOWN:
        return [
            "No attack on your columns ran, so no defense was tried. Choose another threat or model."
        ]
    if head.level == "low":
        return ["No attack tried here calls for a defense. A stronger one may: see the limit."]
    if head.level == UNSETTLED and not head.differs:
        return [
            f"Nothing says whether “{head.open_column}” needs a defense: {ALIKE}. Attack more records "
            f"({argument('targets')}) until some do, or leave it out ({argument('drop')})."
        ]
    if head.level == UNSETTLED and head.learnt is not None:
        return [
            "What is sent tells more than the attacks tried read: ask who holds complete records of "
            f"other people, and look at the limit of “{head.learnt.column}”. No defense is "
            "recommended, as none can be seen to help against these attacks."
        ]
    if head.level == UNSETTLED:
        return [
            f"This audit is too small to say whether a defense is needed: up to {percent(head.up_to)} "
            f"in “{head.open_column}” is not ruled out. Attack more records "
            f"({argument('targets')}), repeat it with more seeds ({argument('seeds')}), or bring a "
            "longer table."
        ]
    # Only what was tried against the threat of the headline can help against it.
    tried = [d for d in defenses if head.threat in d.against]
    best = recommended(head.threat, tried) or cheapest(head.threat, tried)
    if best is not None:
        pair, other = best.column, in_between(head.threat, best, tried)
        assert pair is not None
        there = "" if share(pair.before) == share(head.adds) else f" ({WHERE_TRIED})"
        lines = [
            f"“{best.title}” brings what joining adds in “{pair.column}” from {share(pair.before)}"
            f"{there} down to {share(pair.after)}, and leaves {share(best.worst.after)} in the worst column, "
            f"{_price(best, worth)}.",
            *_asked_again(best, head.threat),
        ]
        open_ = max(best.columns, key=lambda left: left.after.high)
        if open_.after.high >= ENOUGH:
            lines.append(
                f"With it up to {percent(min(open_.after.high, 1.0))} in “{open_.column}” is not ruled "
                f"out{f'; {MORE}' if open_.differs else f', as {ALIKE}'}."
            )
        if best.limit.value >= ENOUGH:
            lines.append(
                "It does not remove the information: with it in place the best guess tried, by "
                "whoever knows the truth of other people, still follows "
                f"{percent(best.limit.value)} over all columns, what is known without joining included."
            )
        return list(dict.fromkeys([*lines, *_cheaper(other, head.threat, worth)]))
    gone = [d for d in tried if leaves_out(d)]
    if gone:
        best = min(gone, key=lambda d: d.worst.after.value)
        return [
            f"“{best.title}” leaves “{head.column}” out altogether, and at most "
            f"{share(best.worst.after)} is added in the columns that stay."
        ]
    if seen_on_none(tried):
        own = [d.column for d in tried if d.column is not None]
        most = max(own, key=lambda pair: pair.before.value)
        return [
            f"No defense can be seen to help: {WHERE_TRIED} joining adds {share(most.before)} in "
            f"“{head.column}” without any. Repeat all of it with more seeds ({argument('seeds')})."
        ]
    if tried:
        closest = min(tried, key=lambda d: d.worst.after.value)
        other = in_between(head.threat, closest, tried)
        return [
            f"None of the defenses tried brings what joining adds below {percent(ENOUGH)} in every column "
            f"and takes half of it away. The closest, “{closest.title}”, leaves "
            f"{_left(closest.worst)}, {_price(closest, worth)}.",
            *dict.fromkeys(
                [*_asked_again(closest, head.threat), *_cheaper(other, head.threat, worth)]
            ),
        ]
    return [
        f"No defense was tried against the threat {head.threat}. Those that train on ciphertexts "
        f"again are, with {choice('compare_defenses', True)}."
        if _costly(head, threats)
        else f"No defense was tried against the threat {head.threat}."
    ]


def _left(pair: ColumnDefense) -> str:
    """Say what a defense leaves in a column, how sure that is, and whether more could be seen."""
    low, high = (percent(min(max(end, 0.0), 1.0)) for end in (pair.after.low, pair.after.high))
    said = f"{share(pair.after)} (95 % interval {low} to {high}) in “{pair.column}”"
    return f"{said}, which is all that own columns leave open" if pair.bounded else said


def asks_again(threat: str) -> bool:
    """Say whether a threat's adversary asks about people again with own parts of its choice."""
    known = (
        entry for entry in cards("threat") if entry.name == threat
    )  # a stored one may be unknown
    return any(ChosenParts in entry.part.grants for entry in known)


def _costly(head: Headline, threats: Sequence[ThreatFinding]) -> bool:
    """Say whether the headline's federation trains on ciphertexts."""
    streams = {t.federation for t in threats if t.name == head.threat}
    return any(
        entry.part.costly and (entry.part.stream or entry.name) in streams
        for entry in cards("federation")
    )


def _about_digits(found: DigitsFinding, already: Sequence[str]) -> Iterator[str]:
    """Say from how many digits on one score names whole records, but what the partner has already."""
    columns = [name for name in found.columns if name not in already]
    if found.enough is None or not columns:
        return
    count = len(columns)
    which, them = (
        (f"these {count} columns", "One record of them")
        if count > 1
        else ("this column", "One value")
    )
    names = ", ".join(f"“{name}”" for name in columns[:MOST_TOLD])
    names += f" and {count - MOST_TOLD} more" if count > MOST_TOLD else ""
    at = found.digits.index(found.enough)
    beside = "" if found.without is None else f" ({percent(found.without.value)} without joining)"
    fewer = (
        f" With {found.digits[at - 1]} it still is {percent(found.exact[at - 1].value)} of the people"
        f"{beside}."
        if at
        else ""
    )
    held, carried = round(found.hidden), round(found.released[at])
    # Bits are counted as of middling scores; where the rule falls short of what is read it explains nothing.
    bits = (
        f" {them} holds {held} bit{'' if held == 1 else 's'}, one such score carries {carried}."
        if carried >= held
        else ""
    )
    yield (
        f"With your part of the model your partner can read {which} exactly from one score with "
        f"{found.enough} or more digits: {names}.{bits}{fewer}"
    )
