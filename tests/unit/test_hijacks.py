"""Hijackers of split training: their equations, what they use, what they take home."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from staging import chosen, held
from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.attacks.hijack.critics import LabelledDiscriminator, PlainDiscriminator
from whatleaks.attacks.hijack.workshop import ForgingHijack, Reconstruction
from whatleaks.catalog import card, cards
from whatleaks.codec import decode, encode
from whatleaks.defenses.protocol import OPEN
from whatleaks.errors import AttackError
from whatleaks.federation.roles import ActiveSeat, Batch
from whatleaks.federation.split.run import SplitFederation, SplitTrained, seat_of
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary
from whatleaks.threat.views.split import SplitView
from whatleaks.wire.channel import Channel

torch.set_num_threads(1)

RNG = np.random.default_rng(3)
HIDDEN = RNG.normal(size=(400, 2))
COLUMNS = np.concatenate([HIDDEN[:, :1], HIDDEN @ RNG.normal(size=(2, 4))], axis=1)
LABELS = (HIDDEN[:, 1] > 0).astype(np.int64)
HOLDINGS = held(COLUMNS, LABELS, [np.s_[1:]], np.s_[:1], 2)
ROWS = chosen(range(200), range(300, 400), range(200, 300))
SETTINGS = SplitSettings(
    steps=30, batch=20, learning_rate=1e-3, bottom=Layers((8,), 4, last=True), scaling="standard"
)
GRANTED = Auxiliary(
    sealed(COLUMNS[200:300, :1]), sealed(COLUMNS[200:300, 1:]), sealed_ints(LABELS[200:300])
)
HIJACKS = [entry.name for entry in cards("hijack") if entry.module.startswith("whatleaks.")]
OBEDIENT = [entry.name for entry in cards("hijack") if entry.obeys]


def seat(**changes: Any) -> ActiveSeat:
    rows = tuple(sealed_ints(range(i, i + 20)) for i in range(0, 200, 20))
    made = seat_of(HOLDINGS, ROWS, SETTINGS, rows, probed=False, granted=(GRANTED,))
    return replace(made, **changes)


def hijack(name: str, **settings: Any) -> ForgingHijack:
    found = card("hijack", name)
    brief = {key: 20 for key in ("pretraining", "decoding") if found.takes(key)}
    if found.build().__dict__.get("pretraining") == 0:
        brief = {}
    made: ForgingHijack = found.build(**{**brief, **settings})
    return made


def train(hijacker: Any) -> SplitTrained:
    made = SplitFederation().train(
        HOLDINGS, ROWS, SETTINGS, Streams(1), Channel(), hijacker=hijacker
    )
    assert isinstance(made, SplitTrained)
    return made


def batch(labels: Any = None) -> Batch:
    embeddings = sealed(np.abs(np.random.default_rng(5).normal(size=(20, 4))))
    return Batch(sealed_ints(range(20)), embeddings, labels)


def entropy(logits: Floats, labels: Any) -> float:
    """Return the mean cross entropy, record by record."""
    found = [
        np.log(np.exp(row).sum()) - row[label] for row, label in zip(logits, labels, strict=True)
    ]
    return float(np.mean(found))


def test_the_labelled_discriminator_keeps_to_equations_4_and_5() -> None:
    critic = LabelledDiscriminator(4, (6,), 1e-3, 3, np.random.default_rng(0), "float64")
    rng = np.random.default_rng(1)
    received, encoded = (torch.tensor(rng.normal(size=(7, 4))) for _ in range(2))
    labels, others = (torch.tensor(rng.integers(0, 3, 7)) for _ in range(2))
    logits = [critic.network(part).detach().numpy() for part in (received, encoded)]
    assert logits[0].shape == (7, 6)  # real and fake of each of three classes
    malicious = float(critic.malicious(received, labels).detach())
    assert abs(malicious - entropy(logits[0], labels.numpy())) < 1e-12  # Eq 4: y+

    def discriminator_loss() -> float:
        said = [critic.network(part).detach().numpy() for part in (received, encoded)]
        return entropy(said[0], labels.numpy() + 3) + entropy(said[1], others.numpy())

    before = discriminator_loss()  # Eq 5
    for _ in range(50):
        critic.learn(received, labels, encoded, others)
    assert discriminator_loss() < before


def test_the_labelled_discriminator_leads_every_class_to_its_own_place() -> None:
    """Two points, one for each class, follow the gradients to where the encoder has that class."""
    critic = LabelledDiscriminator(2, (16,), 1e-2, 2, np.random.default_rng(0), "float64")
    centres = np.array([[2.0, 0.0], [-2.0, 1.0]])
    rng, labels = np.random.default_rng(1), torch.tensor([0, 1] * 16)
    places = np.zeros((2, 2))
    for _ in range(800):
        sent = torch.tensor(places[labels.numpy()] + 0.1 * rng.normal(size=(32, 2)))
        sent.requires_grad_()
        (slope,) = torch.autograd.grad(critic.malicious(sent, labels), sent)
        for one in (0, 1):
            places[one] -= 0.3 * slope[labels == one].sum(dim=0).numpy()
        encoded = torch.tensor(centres[labels.numpy()] + 0.3 * rng.normal(size=(32, 2)))
        critic.learn(sent.detach(), labels, encoded, labels)
    assert np.linalg.norm(places - centres, axis=1).max() < 1.0  # they are 4.1 apart


def test_the_plain_discriminator_learns_real_from_fake() -> None:
    critic = PlainDiscriminator(2, (8,), 1e-2, np.random.default_rng(0), "float64")
    real, fake, none = torch.ones(9, 2).double(), -torch.ones(9, 2).double(), torch.zeros(0)
    for _ in range(200):
        critic.learn(fake, none, real, none)
    told, missed = (float(critic.malicious(sent, none).detach()) for sent in (real, fake))
    assert told < 0.1 < 2.0 < missed


@pytest.mark.parametrize("name", HIJACKS)
def test_a_hijack_takes_a_reconstruction_home_that_travels(name: str) -> None:
    trained = train(hijack(name))
    reading = trained.reading
    assert isinstance(reading, Reconstruction)
    assert reading.name == name
    sent = trained.passives["passive"].embed(sealed(COLUMNS[300:, 1:]))
    view = SplitView(sealed(COLUMNS[300:, :1]), 4, GRANTED, sent)
    guess = reading.infer(view, np.random.default_rng(0)).values
    assert guess.shape == (100, 4)
    again = decode(encode(reading)).infer(view, np.random.default_rng(0)).values
    assert np.array_equal(again, guess)
    assert trained.classes(sealed_ints(range(4)), OPEN) is None


@pytest.mark.parametrize("name", OBEDIENT)
def test_who_only_watches_answers_with_the_honest_gradient(name: str) -> None:
    player: Any = hijack(name).player(seat(), np.random.default_rng(0))
    model, shop, now = player._honest.model, player.workshop, batch()
    received = shop.tensor(now.embeddings).requires_grad_()
    loss = model.loss(shop.training_own[:20], received, torch.tensor(LABELS[:20]))
    (honest,) = torch.autograd.grad(loss, received)
    assert np.abs(player.respond(now) - honest.numpy()).max() < 1e-15


def answers(name: str, labels: Any, **settings: Any) -> Floats:
    """Return the third answer: by then a top model or a discriminator has learnt from labels."""
    player = hijack(name, **settings).player(seat(), np.random.default_rng(0))
    for _ in range(2):
        player.respond(batch(labels))
    return player.respond(batch(labels))


@pytest.mark.parametrize(
    ("name", "settings", "follows"),
    [
        ("fsha", {}, False),
        ("agn", {}, False),
        ("fsha", {"classification": 1.0}, True),
        ("agn", {"classification": 1.0}, True),
        ("urvfl", {}, True),
        ("urvfl", {"labelled": False}, False),
        ("urvfl-sync", {}, True),
        ("pcat", {}, True),
        ("sdar", {}, True),
    ],
)
def test_which_answers_follow_the_labels(name: str, settings: Any, follows: bool) -> None:
    zeros, ones = (answers(name, sealed_ints(np.full(20, k)), **settings) for k in (0, 1))
    assert np.array_equal(zeros, ones) is not follows


def test_pretraining_learns_to_reconstruct_and_is_frozen_afterwards() -> None:
    short, long = (
        hijack("urvfl", pretraining=steps).player(seat(), np.random.default_rng(0))
        for steps in (1, 400)
    )

    def error(player: Any) -> float:
        shop = player.workshop
        off = shop.decode(shop.own, shop.encode(shop.passive)) - shop.passive
        return float((off.detach() ** 2).mean())

    assert error(long) < 0.5 * error(short)
    before = encode(long.reading())
    long.respond(batch())
    assert encode(long.reading()) == before  # Algorithm 2 touches the discriminator alone
    along: Any = hijack("urvfl-sync").player(seat(), np.random.default_rng(0))
    before = encode(along.reading())
    along.respond(batch())
    assert encode(along.reading()) != before  # Algorithm 3


def test_a_perfect_imitation_is_read_to_the_last_digit() -> None:
    """If the victim answered as the encoder does, the decoder's error is the autoencoder's own."""
    player: Any = hijack("urvfl", pretraining=300).player(seat(), np.random.default_rng(0))
    reading, shop = player.reading(), player.workshop
    passive = GRANTED.passive
    view = SplitView(GRANTED.own, 4, GRANTED, reading.imitated(passive))
    guess = reading.infer(view, np.random.default_rng(0)).values
    inside = shop.decode(shop.own, shop.encode(shop.passive)).detach().numpy()
    assert np.abs(guess - (inside * passive.std(axis=0) + passive.mean(axis=0))).max() < 1e-12


def test_an_unknown_encoder_is_refused() -> None:
    with pytest.raises(AttackError, match="use same or layers"):
        hijack("urvfl", encoder="other").player(seat(), np.random.default_rng(0))
    wide: Any = hijack("urvfl", encoder="layers").player(seat(), np.random.default_rng(0))
    assert wide.workshop.encode(wide.workshop.passive).shape == (100, 4)
