"""The help text of every command, printed."""

import contextlib
import io
import sys

from whatleaks.cli import main


def page(*words):
    sys.argv, text = ["whatleaks", *words, "--help"], io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        main()
    print("==", "whatleaks", *words)
    print(text.getvalue())
    listed = text.getvalue().partition("Commands:")[2].splitlines()
    for line in listed:
        if line[:2] == "  " and line[2:3].strip():
            page(*words, line.split()[0])


page()
