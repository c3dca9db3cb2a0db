"""Who takes part: one vocabulary of names and roles for every federation."""

from __future__ import annotations

ACTIVE = "active"  # holds the labels
PASSIVE = "passive"  # holds columns only
COORDINATOR = "coordinator"  # adds up or trains; trusted
ARBITER = "arbiter"  # holds the secret key; trusted
CLIENT = "client"  # of a horizontal federation: holds rows
HELPERS = (COORDINATOR, ARBITER)  # hold no records


def passive_names(count: int) -> tuple[str, ...]:
    """Return the names of ``count`` passive parties: passive, passive-2, passive-3, ..."""
    return tuple(PASSIVE if i == 0 else f"{PASSIVE}-{i + 1}" for i in range(count))


def role_of(party: str) -> str:
    """Return the role in a party's name: ``passive-2`` is passive."""
    return party.partition("-")[0]
