"""One party's end of the network: gRPC over mutual TLS, bytes of our own encoding only.

Three calls, no generated code: ``Join`` exchanges who the parties are, ``Deliver`` carries
one encoded ``Message``, ``Watch`` stays open for the whole run and breaks when a peer dies.
Certificates are checked in the handshake: the client demands the host name of the peer's
name and role, and the server reads the caller's from its certificate.
"""

from __future__ import annotations

import hashlib
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, TypeVar

from whatleaks.codec import decode, encode, travels
from whatleaks.errors import PeerLost, UsageError, WireError, printable
from whatleaks.wire.expected import Expected, Programme
from whatleaks.wire.mailbox import LARGEST, LAST_STEP, Mailbox
from whatleaks.wire.message import Message, Payload
from whatleaks.wire.transcript import Transcript

SERVICE = "whatleaks.Party"
# Seconds; a silent peer is lost after their sum. The library's own threads send and answer
# pings, so a party that computes for long is not taken for dead.
PING_EVERY, PING_PATIENCE = 1.0, 2.0

HEADER = 1 << 12  # bytes: a message and an introduction say in a few lines what they are
RUN_BYTES = 16
# What an introduction may claim: more is no table but an attempt on memory.
MOST_RECORDS, MOST_COLUMNS, MOST_EPOCHS, MOST_KEY = 1 << 31, 1 << 20, 8, 1 << 14

T = TypeVar("T")


@travels
@dataclass(frozen=True)
class Hello:
    """What a party tells the others before any message.

    ``plan`` digests what all must agree on; ``ids`` digests the ids of the own rows in their
    order and is empty towards the arbiter; ``epochs`` are those the party can resume from;
    ``key`` is the public key of whoever holds the secret one; ``outputs`` is how many trees
    a round of SecureBoost has; ``run`` is drawn anew at every start, and the two of a pair
    mark all messages between them.
    """

    name: str
    role: str
    plan: str
    records: int
    columns: int
    predictions: int
    ids: str
    epochs: tuple[int, ...]
    key: bytes
    outputs: int = 0
    run: bytes = b""


@travels
@dataclass(frozen=True)
class Leaving:
    """The last word of a party: no reason if it finished; ``lost`` if another one died.

    A reason is the kind of error and the step: its text may hold private numbers.
    """

    reason: str
    lost: str


@dataclass(frozen=True)
class Place:
    """Where a party listens, and the host name that its certificate must carry."""

    name: str
    role: str
    address: str
    host_name: str

    @property
    def host_and_port(self) -> tuple[str, int]:
        """Split the address; only loopback is allowed."""
        host, _, port = self.address.rpartition(":")
        if host not in ("127.0.0.1", "localhost") or not port.isdigit() or int(port) > 65535:
            raise UsageError(
                f"the address {self.address!r} of {self.name!r} is not on loopback: "
                "use 127.0.0.1:PORT"
            )
        return "127.0.0.1", int(port)

    @property
    def target(self) -> str:
        """The address as gRPC wants it."""
        host, port = self.host_and_port
        return f"{host}:{port}"


@dataclass(frozen=True)
class Identity:
    """PEM bytes of the own key and certificate and of the authority, and their files."""

    authority: bytes
    certificate: bytes
    key: bytes
    authority_file: str
    certificate_file: str
    key_file: str
    read_host_name: Callable[[str], tuple[str, str] | None]


class Node:
    """A party's mailbox with a server before it, and channels to all peers."""

    def __init__(
        self,
        own: Place,
        peers: Mapping[str, Place],
        identity: Identity,
        transcript: Transcript,
        hello: Callable[[str], Hello],
        largest: int = LARGEST,
        patience: float = 600.0,
    ) -> None:
        try:
            import grpc
        except ModuleNotFoundError:
            raise WireError(
                "party processes need grpcio: pip install 'whatleaks[processes]'"
            ) from None
        self._grpc: Any = grpc
        self._own = own
        self._peers = dict(peers)
        self._identity = identity
        self._transcript = transcript
        self._hello = hello
        self._patience = patience
        self._box = Mailbox(own.name, largest)
        self._run = secrets.token_bytes(RUN_BYTES)
        self._their_runs: dict[str, bytes] = {}
        self._met = False
        self._step = 0  # of the message sent or awaited last
        self._news = threading.Condition()
        self._trouble: PeerLost | None = None
        self._finished: set[str] = set()
        self._watchers: set[str] = set()
        self._last_word: Leaving | None = None
        self._leaving = threading.Event()
        self._calls: dict[str, dict[str, Any]] = {}
        self._channels: list[Any] = []
        self._server = self._serve(largest)

    def __enter__(self) -> Node:
        """Start to listen."""
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say the last word to everybody who watches, then close."""
        lost = error.lost if isinstance(error, PeerLost) else ""
        told = f"{type(error).__name__} at step {self._step}"
        self._last_word = Leaving("" if error is None else told, lost)
        with self._news:  # whoever has met us shall hear the last word
            self._news.wait_for(lambda: self._watchers >= set(self._calls), 2.0)
        self._leaving.set()
        self._server.stop(grace=2.0 if error is None else 1.0).wait()
        for channel in self._channels:
            channel.close()

    # The server's side

    def _serve(self, largest: int) -> Any:
        grpc, identity = self._grpc, self._identity
        calls = 4 * len(self._peers) + 4  # each has a watch, a message on its way, and no more
        server = grpc.server(
            ThreadPoolExecutor(max_workers=calls),
            maximum_concurrent_rpcs=calls,  # more would wait in memory
            options=[
                ("grpc.max_receive_message_length", largest + RUN_BYTES),
                ("grpc.so_reuseport", 0),
                ("grpc.http2.max_ping_strikes", 0),
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 100),
            ],
        )
        handlers = {
            "Join": grpc.unary_unary_rpc_method_handler(self._on_join),
            "Deliver": grpc.unary_unary_rpc_method_handler(self._on_deliver),
            "Watch": grpc.unary_stream_rpc_method_handler(self._on_watch),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        credentials = grpc.ssl_server_credentials(
            [(identity.key, identity.certificate)],
            root_certificates=identity.authority,
            require_client_auth=True,
        )
        try:
            server.add_secure_port(self._own.target, credentials)
        except RuntimeError:
            raise UsageError(
                f"cannot listen on {self._own.address}: another process does, or the keys in "
                f"{identity.key_file} are damaged"
            ) from None
        return server

    def _caller(self, context: Any) -> str:
        """Return the name in the caller's certificate; a stranger to the plan is refused."""
        names = context.auth_context().get("x509_subject_alternative_name", [])
        for name in names:
            found = self._identity.read_host_name(name.decode("utf-8", "replace"))
            if found is not None and found[0] in self._peers:
                peer = self._peers[found[0]]
                if found == (peer.name, peer.role):
                    return peer.name
        refusal = f"{self._own.name!r} does not know the party of this certificate"
        context.abort(self._grpc.StatusCode.PERMISSION_DENIED, refusal)
        raise WireError(refusal)

    def _on_join(self, request: bytes, context: Any) -> bytes:
        caller = self._caller(context)
        peer = self._peers[caller]
        try:
            self._meet(peer, request)
        except WireError as refused:
            context.abort(self._grpc.StatusCode.PERMISSION_DENIED, printable(refused))
        return self._introduction(peer)

    def _on_deliver(self, request: bytes, context: Any) -> bytes:
        caller = self._caller(context)
        try:
            if len(request) > self._box.largest + RUN_BYTES:
                raise WireError(
                    f"{caller!r} sent {len(request)} bytes: at most {self._box.largest} are taken"
                )
            if request[:RUN_BYTES] != self._run_with(caller):
                raise WireError(f"{caller!r} sent a message that belongs to another run")
            request = request[RUN_BYTES:]
            message = decode(request, HEADER)
            if not isinstance(message, Message):
                raise WireError(f"{caller!r} sent something that is not a message")
            if message.sender != caller:
                raise WireError(f"{caller!r} sent a message in the name of {message.sender!r}")
            with self._news:
                self._box.put(message, len(request))
                self._transcript.record(message, request)
                self._news.notify_all()
        except WireError as refused:
            context.abort(self._grpc.StatusCode.FAILED_PRECONDITION, printable(refused))
        return b""

    def _on_watch(self, request: bytes, context: Any) -> Iterator[bytes]:
        caller = self._caller(context)
        with self._news:
            again = caller in self._watchers
            self._watchers.add(caller)
            self._news.notify_all()
        if again:  # each takes a thread for the whole run
            context.abort(
                self._grpc.StatusCode.RESOURCE_EXHAUSTED, f"{caller!r} has a watch already"
            )
        while context.is_active():
            if self._leaving.wait(0.2):
                yield encode(self._last_word)
                return

    # The client's side

    def join(self, timeout: float = 30.0) -> dict[str, Hello]:
        """Meet every peer: check certificates both ways, exchange who is who, begin to watch."""
        deadline = time.monotonic() + timeout
        answers = {}
        for name, peer in self._peers.items():
            self._await_open(peer, deadline, timeout)
            calls = self._connect(peer)
            hello = self._introduction(peer)
            try:
                left = max(1.0, deadline - time.monotonic())
                answer = calls["Join"](hello, timeout=left, wait_for_ready=True)
            except self._grpc.RpcError as error:
                why = printable(error.details())
                raise self._lost(name, f"did not let us join: {why}") from None
            answers[name] = self._meet(peer, answer)
            self._calls[name] = calls
            threading.Thread(target=self._watch, args=(name,), daemon=True).start()
        self._met = True
        return answers

    def limit(self, largest: int) -> None:
        """Take and send no longer messages from now on: the plan says how long they get."""
        self._box.largest = min(self._box.largest, largest)

    def enveloped(self, receiver: str, encoded: bytes) -> bytes:
        """Put the mark of this run with ``receiver`` before a message."""
        return self._run_with(receiver) + encoded

    def _introduction(self, peer: Place) -> bytes:
        return encode(replace(self._hello(peer.role), run=self._run))

    def _run_with(self, peer: str) -> bytes:
        """Return what marks the messages between a peer and us in this run, and in no other."""
        both = sorted((self._run, self._their_runs.get(peer, b"")))
        return hashlib.sha256(b"".join(both)).digest()[:RUN_BYTES]

    def send(self, step: int, sender: str, receiver: str, kind: str, payload: Payload) -> None:
        """Deliver one message and wait until the peer has it in its mailbox."""
        encoded = encode(Message(step, sender, receiver, kind, payload))
        if len(encoded) > self._box.largest:
            raise WireError(
                f"{kind!r} of step {step} has {len(encoded)} bytes: at most "
                f"{self._box.largest} are sent"
            )
        self._raise_trouble()
        self._step = step
        code = self._grpc.StatusCode
        try:
            self._calls[receiver]["Deliver"](
                self.enveloped(receiver, encoded), timeout=self._patience
            )
        except self._grpc.RpcError as error:
            if error.code() in (code.FAILED_PRECONDITION, code.RESOURCE_EXHAUSTED):
                why = printable(error.details())
                raise WireError(f"{receiver!r} refused {kind!r} of step {step}: {why}") from None
            with self._news:  # the watch knows why, if the peer had a last word
                self._news.wait_for(lambda: self._trouble is not None, 1.0)
            self._raise_trouble()
            raise self._lost(receiver, "does not answer") from None

    def wait(self, expected: Expected) -> Payload:
        """Wait for a message; a lost peer, or one that left without sending it, is named."""
        sender = expected.sender
        self._step = expected.step
        deadline = time.monotonic() + self._patience
        with self._news:
            while not self._box.holds(sender):
                if self._trouble is not None:
                    raise self._trouble
                if sender in self._finished:
                    raise self._lost(sender, f"left before it sent {expected}")
                if time.monotonic() > deadline:
                    raise self._lost(sender, f"did not send {expected} in {self._patience:g} s")
                self._news.wait(1.0)
            return self._box.take(expected)

    def run(self, programme: Programme[T]) -> T:
        """Drive one programme to its end."""
        try:
            expected = next(programme)
            while True:
                expected = programme.send(self.wait(expected))
        except StopIteration as end:
            result: T = end.value
            return result

    def _connect(self, peer: Place) -> dict[str, Any]:
        grpc, identity = self._grpc, self._identity
        credentials = grpc.ssl_channel_credentials(
            identity.authority, identity.key, identity.certificate
        )
        channel = grpc.secure_channel(
            peer.target,
            credentials,
            options=[
                ("grpc.ssl_target_name_override", peer.host_name),
                ("grpc.max_send_message_length", -1),
                ("grpc.keepalive_time_ms", int(1000 * PING_EVERY)),
                ("grpc.keepalive_timeout_ms", int(1000 * PING_PATIENCE)),
                # The setting above alone is not obeyed: a frozen peer would last a minute.
                ("grpc.http2.ping_timeout_ms", int(1000 * PING_PATIENCE)),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.max_pings_without_data", 0),
                ("grpc.enable_http_proxy", 0),
            ],
        )
        self._channels.append(channel)
        return {
            "Join": channel.unary_unary(f"/{SERVICE}/Join"),
            "Deliver": channel.unary_unary(f"/{SERVICE}/Deliver"),
            "Watch": channel.unary_stream(f"/{SERVICE}/Watch"),
        }

    def _await_open(self, peer: Place, deadline: float, timeout: float) -> None:
        """Wait until the peer listens; a refused certificate is told at once, by either side."""
        identity = self._identity
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_verify_locations(identity.authority_file)
            context.load_cert_chain(identity.certificate_file, identity.key_file)
        except (ssl.SSLError, OSError) as error:
            raise UsageError(f"the keys in {identity.key_file} are damaged: {error}") from None
        context.set_alpn_protocols(["h2"])
        closed = 0
        while True:
            try:
                with (
                    socket.create_connection(peer.host_and_port, timeout=2.0) as plain,
                    context.wrap_socket(plain, server_hostname=peer.host_name) as secured,
                ):
                    if secured.recv(1):  # the server speaks first, once it has accepted us
                        return
                    closed += 1
            except ssl.SSLCertVerificationError as error:
                raise self._lost(
                    peer.name, f"showed a certificate that is refused: {error.verify_message}"
                ) from None
            except (ssl.SSLError, ConnectionResetError, BrokenPipeError):
                closed += 1
            except OSError:
                closed = 0
            if closed >= 3:
                raise self._lost(peer.name, "refused our certificate")
            if time.monotonic() > deadline:
                raise self._lost(peer.name, f"did not start on {peer.address} in {timeout:g} s")
            time.sleep(0.1)

    def _watch(self, name: str) -> None:
        """Read a peer's last word, or notice that it died without one."""
        lost: PeerLost | None = None
        try:
            word = next((decode(data, HEADER) for data in self._calls[name]["Watch"](b"")), None)
            if not isinstance(word, Leaving) or not isinstance(word.lost, str):
                lost = self._lost(name, "closed its end without a word")
            elif word.reason:
                if word.lost in self._peers and word.lost != name:
                    lost = self._lost(word.lost, f"is gone, says {name!r}")
                else:
                    lost = self._lost(name, f"stopped: {printable(word.reason)}")
        except self._grpc.RpcError:
            lost = self._lost(name, "died or can no longer be reached")
        except WireError as error:
            lost = self._lost(name, f"left with a broken last word: {printable(error)}")
        with self._news:
            if lost is None:
                self._finished.add(name)
            elif self._trouble is None:
                self._trouble = lost
            self._news.notify_all()

    def _raise_trouble(self) -> None:
        with self._news:
            if self._trouble is not None:
                raise self._trouble

    def _meet(self, peer: Place, introduction: bytes) -> Hello:
        """Read who a peer says it is, and keep its part of the mark of this run."""
        hello = decode(introduction, HEADER) if len(introduction) <= 4 * HEADER else None
        if not isinstance(hello, Hello):
            raise WireError(f"{peer.name!r} did not introduce itself")
        _check_claims(peer.name, hello)
        self._check_hello(peer, hello)
        with self._news:
            if self._met and self._their_runs.get(peer.name) != hello.run:
                raise WireError(f"{peer.name!r} has started again: it belongs to another run")
            self._their_runs[peer.name] = hello.run
        return hello

    def _check_hello(self, peer: Place, hello: Hello) -> None:
        if (hello.name, hello.role) != (peer.name, peer.role):
            raise WireError(
                f"a peer says it is {hello.name!r} in role {hello.role!r}, but its certificate "
                f"is for {peer.name!r} in role {peer.role!r}"
            )

    def _lost(self, name: str, what: str) -> PeerLost:
        error = PeerLost(f"party {name!r} {what}")
        error.lost = name
        return error


def _check_claims(name: str, hello: Hello) -> None:
    """Refuse an introduction of other types or sizes, before anything is made to measure."""
    counts = (
        (hello.records, MOST_RECORDS),
        (hello.columns, MOST_COLUMNS),
        (hello.predictions, MOST_RECORDS),
        (hello.outputs, MOST_COLUMNS),
    )
    epochs = hello.epochs if isinstance(hello.epochs, tuple) else (None,)
    texts = (hello.name, hello.role, hello.plan, hello.ids)
    sound = (
        all(type(count) is int and 0 <= count <= most for count, most in counts)
        and len(epochs) <= MOST_EPOCHS
        and all(type(epoch) is int and 0 <= epoch < LAST_STEP for epoch in epochs)
        and all(isinstance(text, str) and len(text) <= 128 for text in texts)
        and isinstance(hello.key, bytes)
        and len(hello.key) <= MOST_KEY
        and isinstance(hello.run, bytes)
        and len(hello.run) == RUN_BYTES
    )
    if not sound:
        raise WireError(f"{name!r} introduces itself with something that no plan gives")
