"""Walls around this process: Linux namespaces, without privileges and without another programme.

The process that calls ``enter`` goes on in new user, mount, process, network and IPC namespaces.
Its files are those that Python needs, read-only, and an empty folder of its own; there is no
network, no other process, and no way back: the old root is gone and all privileges are dropped.

It must be called first, while there is one thread and nothing else is loaded, so only the
standard library is imported here. It writes one byte to the standard output, before anything
that it guards can run: whether the walls stand.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

STANDING, MISSING = b"S", b"P"

_NEW_USER, _NEW_MOUNTS, _NEW_PROCESSES = 0x10000000, 0x00020000, 0x20000000
_NEW_NETWORK, _NEW_IPC, _NEW_NAMES = 0x40000000, 0x08000000, 0x04000000
_ALL = _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_NETWORK | _NEW_IPC | _NEW_NAMES
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC = 1, 2, 4, 8, 32, 4096, 16384
_PRIVATE, _RELATIME, _DETACH = 1 << 18, 1 << 21, 2
_KEPT = {2: _NOSUID, 4: _NODEV, 8: _NOEXEC, 1024: 1024, 2048: 2048, 4096: _RELATIME}
_DIE_WITH_PARENT, _NO_NEW_PRIVILEGES = 1, 38
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPABILITIES = 0x20080522
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_EMPTY = "/empty"  # the one folder that can be written
_PACKAGES = ("site-packages", "dist-packages")
_ROOM = "size=1g,mode=755"


def enter(seen: Sequence[str]) -> None:
    """Put up the walls, with the files and folders in ``seen`` inside, and tell whether they stand.

    What cannot be put up is left out and told: the caller decides what to make of it.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        standing = _enter(libc, seen)
    except (OSError, AttributeError, KeyError):
        standing = False
    os.write(1, STANDING if standing else MISSING)


def _enter(libc: ctypes.CDLL, seen: Sequence[str]) -> bool:
    user, group = os.getuid(), os.getgid()
    pivot = _PIVOT_ROOT[os.uname().machine]
    _call(libc.unshare, _ALL)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    inner = os.fork()  # the first process of the new namespace, and what comes after it
    if inner:
        _stand_by(inner)
    _call(libc.prctl, _DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    os.setsid()
    root = os.getcwd()
    _mount(libc, None, "/", None, _REC | _PRIVATE)
    _mount(libc, "none", root, "tmpfs", _NOSUID | _NODEV, _ROOM)
    for path in (*_outermost(seen), *_DEVICES):
        _show(libc, path, root)
    for folder in (_EMPTY, "/proc"):
        os.makedirs(root + folder, exist_ok=True)
    try:
        _mount(libc, "proc", f"{root}/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
        with open(f"{root}/proc/sys/user/max_user_namespaces", "w") as file:
            file.write("0")  # no namespaces inside: nobody gets privileges back in one
    except OSError:
        pass  # a container may hide parts of /proc: then there is none at all, or it is as it is
    os.chdir(root)
    _call(libc.syscall, pivot, b".", b".")
    _call(libc.umount2, b".", _DETACH)
    _mount(libc, None, "/", None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)
    _mount(libc, "none", _EMPTY, "tmpfs", _NOSUID | _NODEV, _ROOM)
    os.chdir(_EMPTY)
    os.environ["TMPDIR"] = _EMPTY
    _drop_privileges(libc)
    return True


def _stand_by(inner: int) -> None:
    """Wait for the process within, and leave as it left."""
    _, status = os.waitpid(inner, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _outermost(paths: Sequence[str]) -> list[str]:
    """Return the paths that lie in no other one."""
    real = sorted({os.path.realpath(path) for path in paths} | set(paths))
    return [p for p in real if not any(p.startswith(f"{other}/") for other in real)]


def _show(libc: ctypes.CDLL, path: str, root: str) -> None:
    """Have a file or folder inside, read-only; what does not exist is left out."""
    if not os.path.exists(path):
        return
    inside = root + path
    if os.path.islink(path) and os.path.isdir(path):  # /lib -> usr/lib
        os.makedirs(os.path.dirname(inside), exist_ok=True)
        os.symlink(os.path.realpath(path), inside)
        return
    if os.path.isdir(path):
        os.makedirs(inside, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(inside), exist_ok=True)
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY, 0o600))
    _mount(libc, path, inside, None, _BIND | _REC)
    told = os.statvfs(inside).f_flag
    kept = sum(flag for bit, flag in _KEPT.items() if told & bit)
    _mount(libc, None, inside, None, _REMOUNT | _BIND | _RDONLY | _NOSUID | kept)


def _drop_privileges(libc: ctypes.CDLL) -> None:
    _call(libc.prctl, _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
    _call(libc.capset, header, (ctypes.c_uint32 * 6)())


def _mount(
    libc: ctypes.CDLL, source: str | None, target: str, kind: str | None, flags: int, data: str = ""
) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _call(libc.mount, *texts, ctypes.c_ulong(flags), os.fsencode(data) or None)


def _call(function: object, *arguments: object) -> None:
    """Call the C library; what it refuses is an ``OSError``."""
    if function(*arguments) != 0:  # type: ignore[operator]
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def needed() -> list[str]:
    """Return what Python needs from the disk: its libraries, and nothing of the user's."""
    import site
    import sysconfig

    paths = sysconfig.get_paths()
    found = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    found += [*site.getsitepackages(), str(sysconfig.get_config_var("LIBDIR") or "")]
    # Packages of another environment that this one was told to use, or of the user's own.
    found += [path for path in sys.path if os.path.basename(path) in _PACKAGES]
    found += ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"]
    return [path for path in dict.fromkeys(found) if path and os.path.exists(path)]


if sys.platform != "linux":

    def enter(seen: Sequence[str]) -> None:
        """There are no namespaces here: say so."""
        del seen
        os.write(1, MISSING)
