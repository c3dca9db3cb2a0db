"""The command line: parse, call, print. Heavy libraries load only in the command that needs them.

One module per group of commands holds plain functions; here they get their names. Other
packages add groups of commands by entry points (``whatleaks.commands``: each names a typer app).
"""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from typing import Annotated

import typer

from whatleaks import __version__
from whatleaks.cli import (
    audit,
    check,
    listings,
    precheck,
    reports,
    runs,
)
from whatleaks.cli.common import FLAGS, INTERRUPTED
from whatleaks.errors import WhatleaksError, speak_of_flags
from whatleaks.extras import behind, lacking

app = typer.Typer(
    help="What can my partners learn about my columns, and what stops them?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    audit.audit,
    check.check,
    precheck.precheck,
    reports.compare,
    reports.signoff,
    listings.attacks,
    listings.defenses,
    listings.detectors,
    listings.threats,
    listings.federations,
    listings.datasets,
    runs.run,
    runs.results,
):
    app.command()(command)
for group in entry_points(group="whatleaks.commands"):  # those of other packages
    app.add_typer(group.load(), name=group.name)


@app.callback(invoke_without_command=True)
def _always(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    speak_of_flags(FLAGS)
    context.call_on_close(lambda: speak_of_flags(None))  # a caller of ours speaks of arguments
    if version:
        print(f"whatleaks {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line: errors of use in one line and exit code 2, never a traceback."""
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)
    except WhatleaksError as error:
        for line in str(error).splitlines():
            print(f"whatleaks: {line}", file=sys.stderr)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        extra = behind(error)
        if not extra:
            raise
        print(f"whatleaks: {lacking(f'the module {error.name}', extra)}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        print("whatleaks: interrupted. Run the same command again to resume.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        # Click's own usage errors carry a message for the user; anything else is our bug.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        print(f"whatleaks: {message()} Try --help.", file=sys.stderr)
        sys.exit(2)
