"""What a role that keeps its messages can compute about others, by kind of message.

One row per role, kind and form. The rows state what is known from papers and from the
protocol's own algebra; a kind without a row is reported as unknown, never as safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whatleaks.errors import UsageError, nearest
from whatleaks.wire.message import Cipher, Message
from whatleaks.wire.parties import role_of
from whatleaks.wire.transcript import Transcript

PLAIN, CIPHER, OWN_KEY = "plain", "cipher", "cipher, holds the key"
_UNKNOWN = "unknown: no row about this kind; treat it as exposed"
_SEALED = "nothing without the secret key; its length tells the number of values"


@dataclass(frozen=True)
class Exposure:
    """One kind of message that a role received from one sender."""

    sender: str
    kind: str
    form: str
    count: int
    size: int
    shapes: tuple[tuple[int, ...], ...]
    steps: tuple[int, int]
    exposes: str


# (role, kind) -> what plain values of this kind let the role compute.
_PLAIN_ROWS = {
    ("active", "intermediate"): (
        "the passive party's weights, from as many independent queries as it has columns "
        "(Li et al., section 4.1)"
    ),
    ("passive", "query"): "records that the active party made up; nothing about its table",
    ("active", "output"): (
        "the passive party's z of every predicted record: one linear equation per record on "
        "its columns (Li et al., Eq 4)"
    ),
    ("active", "score"): (
        "the sum of the others' z, as its own part is known and the score can be inverted; "
        "with one passive party that is its z"
    ),
    ("client", "average-weights"): (
        "with two clients, the other's weights after every round: 2 average - own, so its "
        "gradient (Li et al., Eq 5) and X^T X (Eq 7); with more, the sum of the others'"
    ),
    ("client", "share"): "nothing: one additive share modulo 2**64 is uniform whatever the value",
    ("client", "first-weights"): "nothing: the arbiter draws them before it sees anything",
    ("active", "candidates"): "how many candidate splits the party's columns give",
    ("active", "left"): (
        "on which side of a hidden threshold of the party every record lies; in prediction it may "
        "ask about as many records as it likes, and so narrow thresholds down (Li et al., "
        "section 5)"
    ),
    ("passive", "rows"): "which records a tree uses",
    ("passive", "nodes"): (
        "how all parties' splits divide the records: records with the same label gather in the "
        "same nodes"
    ),
    ("passive", "choice"): (
        "which of its own splits are worth most to the active party, so which of its columns "
        "tell the label"
    ),
    ("passive", "ask"): "which new records reached its own nodes",
    ("arbiter", "share-sum"): (
        "the sum of all clients' weights of every round, once it has every client's part; no "
        "single client's"
    ),
}

# (role, kind) -> what a role that holds the secret key reads out of ciphertexts of this kind.
_KEY_ROWS = {
    ("arbiter", "encrypted-gradient"): (
        "every party's gradient, unless gradients are masked; with the residuals of a colluding "
        "active party, linear equations on the victim's columns (Li et al., section 4.1)"
    ),
    ("arbiter", "encrypted-sum"): "the score of every predicted record",
    ("active", "sums"): (
        "G and H left of every candidate of the party, in shuffled order: in the first tree, "
        "where every h is the same, how many records lie there"
    ),
    ("client", "encrypted-weight-sum"): _PLAIN_ROWS["client", "average-weights"],
}


def what_was_seen(transcript: Transcript, party: str) -> tuple[Exposure, ...]:
    """Summarise what ``party`` received, by sender, kind and form, and what it gives away."""
    known = transcript.receivers()
    if party not in known:
        raise UsageError(
            f"party {party!r}: this transcript holds what {', '.join(known) or 'nobody'} "
            f"received.{nearest(party, known)}"
        )
    received = transcript.received_by(party)
    groups: dict[tuple[str, str, bool], list[Message]] = {}
    for message in received:
        key = (message.sender, message.kind, message.payload.readable)
        groups.setdefault(key, []).append(message)
    sizes = {
        (t.sender, t.kind, t.readable): t.size for t in transcript.traffic() if t.receiver == party
    }
    return tuple(
        Exposure(
            sender,
            kind,
            _form(party, kind, readable),
            len(messages),
            sizes[sender, kind, readable],
            tuple(dict.fromkeys(_shape(message) for message in messages)),
            (messages[0].step, messages[-1].step),
            _exposes(party, kind, readable, messages, received),
        )
        for (sender, kind, readable), messages in groups.items()
    )


def _form(party: str, kind: str, readable: bool) -> str:
    if readable:
        return PLAIN
    return OWN_KEY if (role_of(party), kind) in _KEY_ROWS else CIPHER


def _shape(message: Message) -> tuple[int, ...]:
    payload = message.payload
    return payload.shape if isinstance(payload, Cipher) else payload.values.shape


def _exposes(
    party: str, kind: str, readable: bool, messages: Sequence[Message], received: Sequence[Message]
) -> str:
    role = role_of(party)
    if not readable:
        return _KEY_ROWS.get((role, kind), _SEALED)
    if role in _SOLVED and kind in ("gradient", "masked-gradient"):
        return _own_gradient(role, messages, received)
    return _PLAIN_ROWS.get((role, kind), _UNKNOWN)


# What a data party knows once it has solved g = X^T d + alpha W for the residuals d.
_SOLVED = {
    "active": (
        "the passive parties' summed z, as d = z_A + z_B - y; over steps X X^T of their table "
        "(Li et al., Eq 3)"
    ),
    "passive": "the residuals, so how far the model is from each record's label",
}


def _own_gradient(role: str, gradients: Sequence[Message], received: Sequence[Message]) -> str:
    """Say in how many steps the own gradient is enough to solve for d (section 4.1).

    A mask hides a gradient from the arbiter only: its owner takes it off again.
    """
    batches = {m.step: m.payload.shape[0] for m in received if isinstance(m.payload, Cipher)}
    columns = max(_shape(message)[0] for message in gradients)
    sizes = [batches[m.step] for m in gradients if m.step in batches]
    solved = sum(columns >= size for size in sizes)
    basis = f"{columns} own columns >= records in the batch in {solved} of {len(sizes)} steps"
    if solved:
        return f"{basis}: there its own gradient g = X^T d + alpha W gives {_SOLVED[role]}"
    lacking = max(sizes, default=0) - columns
    return (
        f"{basis}: its own gradient is too few equations for d; {lacking} fake columns would "
        f"be enough (Li et al., section 4.1). If it does not follow the protocol it reads {columns} "
        "combinations of d of its choice in every step"
    )
