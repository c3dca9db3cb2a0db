"""What several commands share: options, how flags are read, how tables are printed."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from whatleaks.errors import UsageError, shell_word

INTERRUPTED = 130  # what a shell expects of a programme that Ctrl-C ended
DEFAULT_STORE = Path("runs/whatleaks.db")

# Arguments whose flag is not their own name with dashes: messages of the library name these.
FLAGS = {
    "defenses": "no-defenses",
    "home": "data-home",
    "id_column": "id",
    "threats": "threat",
    "trained_on": "training-rows",
}

Table = Annotated[
    str, typer.Argument(help="A CSV, Excel or Parquet file, or the name of a data set.")
]
Label = Annotated[str | None, typer.Option(help="The column to predict; the active party's.")]
Passive = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns that the passive party holds: names with commas between them, or repeated."
    ),
]
PassiveFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--passive-file",
        help="A passive party's own file, joined by --id; repeated: one party each.",
    ),
]
Id = Annotated[str | None, typer.Option("--id", help="The column that joins the files.")]
Inner = Annotated[bool, typer.Option("--inner", help="Keep only ids that all files have.")]
Missing = Annotated[str, typer.Option(help="refuse, median or drop-rows.")]
Categories = Annotated[str, typer.Option(help="ordinal, one-hot or target-mean.")]
ScaleOn = Annotated[str, typer.Option(help="Fit the [0,1] scale on: training or all rows.")]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="Columns to leave out: names with commas between them, or repeated."),
]
DropConstant = Annotated[bool, typer.Option("--drop-constant", help="Leave constant columns out.")]
EncodeText = Annotated[bool, typer.Option("--encode-text", help="Treat free text as categories.")]
Bins = Annotated[int | None, typer.Option(help="Cut a numeric label into this many classes.")]
Decimal = Annotated[
    str | None, typer.Option(help="The mark before decimals where words hold numbers: . or ,")
]
Thousands = Annotated[
    str | None, typer.Option(help="The mark between thousands where words hold numbers.")
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        help="What means a missing value: a word, a number, or column=value; may be repeated.",
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="What a text is written in that is not UTF-8, such as cp1251.")
]
Sheet = Annotated[str | None, typer.Option(help="Which sheet of an Excel file to read.")]
DataHome = Annotated[
    Path | None, typer.Option("--data-home", help="Folder with the public data sets.")
]
Workers = Annotated[int, typer.Option(help="Worker processes; 0: one per core.")]
On = Annotated[str, typer.Option("--on", help="local or ray.")]
Address = Annotated[str, typer.Option(help="A Ray cluster's address; empty: start one here.")]
StorePath = Annotated[Path, typer.Option("--store", help="The file that keeps finished runs.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="One line per finished run.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a list of objects.")]
Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", help="A Python file with parts of your own; may be repeated."),
]


SHOWN = 0.005  # of the time: shorter phases are told together


def use_plugins(paths: Sequence[Path] | None) -> None:
    """Have the catalog load some files, here and in every worker: they inherit the variable."""
    from whatleaks.catalog import PLUGINS

    for path in paths or ():
        if not path.is_file():
            raise UsageError(f"--plugin: there is no file {path}")
    named = [str(path.resolve()) for path in paths or ()]
    before = [name for name in os.environ.get(PLUGINS, "").split(os.pathsep) if name]
    if named:
        os.environ[PLUGINS] = os.pathsep.join(dict.fromkeys([*before, *named]))


def use_data_home(folder: Path | None) -> None:
    """Look for data sets in a folder, here and in every worker: they inherit the variable."""
    if folder is None:
        return
    if not folder.is_dir():
        raise UsageError(f"--data-home {folder} is not a folder")
    os.environ["WHATLEAKS_DATA"] = str(folder.resolve())


def words(text: str | None) -> tuple[str, ...]:
    """Split a comma-separated flag."""
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def named(words: Sequence[str], columns: Sequence[str] = ()) -> list[str]:
    """Return names as a flag takes them: with commas between, or one by one if they hold some.

    One by one also where the list would be read as other ``columns``: 'a' and 'b' beside 'a,b'.
    """
    from whatleaks.data.naming import chosen_names

    together = ",".join(words)
    alike = not columns or chosen_names([together], columns) == tuple(words)
    return [together] if alike and not any("," in word for word in words) else list(words)


def whole_numbers(flag: str, text: str | None) -> tuple[int, ...]:
    """Read a comma-separated list of whole numbers, such as layer sizes."""
    parts = words(text)
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"--{flag} takes whole numbers such as 600,300,100, got {text!r}")
    return tuple(int(part) for part in parts)


def show(
    title: str, headers: tuple[str, ...], rows: Sequence[tuple[Any, ...]], as_json: bool = False
) -> None:
    """Print a table, or its rows as objects."""
    if as_json:
        print_json([dict(zip(headers, row, strict=True)) for row in rows])
        return
    from whatleaks.report.terminal import print_tables, table

    print_tables(table(title, headers, rows))


def print_json(tree: Any) -> None:
    """Print plain values as JSON."""
    import json

    print(json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False))


def audit_command(
    table: str,
    chosen: Mapping[str, Any],
    passive_files: Sequence[Path] = (),
    id_column: str | None = None,
    inner: bool = False,
    more: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> str:
    """Write an audit of a table with these ``columns`` as a command line that can be pasted."""
    from whatleaks.data.checking import flat
    from whatleaks.data.problems import changed_from_default

    words = ["whatleaks", "audit", table, "--label", chosen["label"]]
    if passive_files:
        for path in passive_files:
            words += ["--passive-file", str(path)]
        words += ["--id", id_column or "", *(["--inner"] if inner else [])]
    else:
        for word in named(flat(chosen["passive"]), columns):
            words += ["--passive", word]
    for name, value in changed_from_default(chosen).items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag)
        elif isinstance(value, tuple):
            each = list(value) if name == "na" else named(value, columns)
            words += [part for word in each for part in (flag, word)]
        else:
            words += [flag, str(value)]
    return " ".join(shell_word(word) for word in [*words, *more])


def other_flags(context: typer.Context, known: Container[str]) -> list[str]:
    """Return the flags of a command that were given and are not ``known``."""
    words: list[str] = []
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if name in known or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [option.opts[0]] if isinstance(one, bool) else [option.opts[0], str(one)]
    return words


def time_lines(phases: Mapping[str, float]) -> list[str]:
    """Write seconds of processor time by phase, the most first; what is too short in one line."""
    total = sum(phases.values()) or 1.0
    shown = {name: seconds for name, seconds in phases.items() if seconds >= SHOWN * total}
    rest = len(phases) - len(shown)
    if rest:
        shown[f"{rest} more"] = sum(phases.values()) - sum(shown.values())
    return [
        f"Processor time: {total:.1f} s in all",
        *(
            f"  {name:<38} {seconds:8.1f} s {100 * seconds / total:5.1f} %"
            for name, seconds in shown.items()
        ),
    ]
