"""One parser for each tabular set: the publisher's text becomes a named table.

A parser takes the located files and its own named options, and returns a frame whose last
column is the target. Nothing is scaled, imputed or encoded here.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from whatleaks.data.bins import quantile_bins
from whatleaks.data.location import Located
from whatleaks.errors import DataError, UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd

_ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
_HOUSING = [
    "CRIM",
    "ZN",
    "INDUS",
    "CHAS",
    "NOX",
    "RM",
    "AGE",
    "DIS",
    "RAD",
    "TAX",
    "PTRATIO",
    "B",
    "LSTAT",
    "MEDV",
]
_VEHICLE = [
    "compactness",
    "circularity",
    "distance_circularity",
    "radius_ratio",
    "axis_aspect_ratio",
    "max_length_aspect_ratio",
    "scatter_ratio",
    "elongatedness",
    "axis_rectangularity",
    "max_length_rectangularity",
    "scaled_variance_major",
    "scaled_variance_minor",
    "scaled_radius_of_gyration",
    "skewness_major",
    "skewness_minor",
    "kurtosis_minor",
    "kurtosis_major",
    "hollows_ratio",
    "class",
]


def _csv(raw: bytes, **settings: Any) -> pd.DataFrame:
    import pandas as pd

    frame: pd.DataFrame = pd.read_csv(io.BytesIO(raw), **settings)
    return frame


def _excel(located: Located, name: str, package: str, **settings: Any) -> pd.DataFrame:
    """Read the publisher's Excel file, where the optional package for it is installed."""
    import pandas as pd

    try:
        frame: pd.DataFrame = pd.read_excel(io.BytesIO(located.read(name)), **settings)
    except ImportError:
        raise DataError(
            f"data set {located.card.name!r} is an Excel file: 'pip install {package}' to read it."
        ) from None
    return frame


def _stacked(
    located: Located, names: Sequence[str], columns: list[str], **settings: Any
) -> pd.DataFrame:
    """Put files of one layout under each other."""
    import pandas as pd

    parts = [_csv(located.read(name), header=None, names=columns, **settings) for name in names]
    return pd.concat(parts, ignore_index=True)


def _numbered(prefix: str, count: int, target: str) -> list[str]:
    return [*(f"{prefix}{i}" for i in range(1, count + 1)), target]


def _part(part: str, training: str, test: str) -> tuple[str, ...]:
    """Choose among the publisher's training and test files."""
    choices = {"both": (training, test), "training": (training,), "test": (test,)}
    chosen: tuple[str, ...] = _choice("part", part, choices)
    return chosen


def _choice(option: str, value: str, choices: dict[str, Any]) -> Any:
    if value not in choices:
        raise UsageError(
            f"option {option}={value!r} is unknown: use one of {', '.join(choices)}."
            f"{nearest(str(value), choices)}"
        )
    return choices[value]


def bank(
    located: Located, *, drop_duration: bool = False, drop_unknown: bool = False
) -> pd.DataFrame:
    """Bank Marketing.

    ``drop_duration`` leaves out the length of the call, which is known only after it.
    ``drop_unknown`` keeps the 30,488 rows without "unknown", which U used.
    """
    frame = _csv(located.read("bank-additional-full.csv.gz"), sep=";")
    if drop_unknown:
        frame = frame[~(frame == "unknown").any(axis=1)].reset_index(drop=True)
    return frame.drop(columns="duration") if drop_duration else frame


def credit(located: Located) -> pd.DataFrame:
    """Default of Credit Card Clients, without the running number."""
    if "UCI_Credit_Card.csv.gz" in located:
        frame = _csv(located.read("UCI_Credit_Card.csv.gz"))
    else:
        frame = _excel(located, "default of credit card clients.xls.gz", "xlrd", header=1)
        frame = frame.rename(columns={"default payment next month": located.card.target})
    return frame.drop(columns="ID")


def drive(located: Located) -> pd.DataFrame:
    """Sensorless Drive Diagnosis: 48 numbers without names, the class last."""
    name = "Sensorless_drive_diagnosis_40pct.txt.gz"
    name = "Sensorless_drive_diagnosis.txt.gz" if located.official else name
    return _csv(located.read(name), sep=" ", header=None, names=_numbered("f", 48, "class"))


def news(located: Located, *, classes: int = 0, sample: str = "all") -> pd.DataFrame:
    """Online News Popularity, without url and timedelta, which predict nothing.

    ``classes`` cuts ``shares`` at its quantiles (5: as in Luo). ``sample="uniform"`` keeps the
    rows of the part that were drawn uniformly from the whole set.
    """
    uniform = _choice("sample", sample, {"all": False, "uniform": True})
    name = "OnlineNewsPopularity.csv.gz" if located.official else located.card.files[0].name
    frame = _csv(located.read(name), skipinitialspace=True).drop(columns=["url", "timedelta"])
    if uniform and not located.official:
        rows = located.read("OnlineNewsPopularity_subset_rows20pct.txt.gz").split()
        frame = frame.iloc[[int(row) for row in rows]].reset_index(drop=True)
    if classes:
        shares = frame["shares"].to_numpy(dtype=float)
        codes, titles = quantile_bins(shares, classes, "shares")
        # The bin's number leads, so that the names sort in the order of the shares.
        frame["shares"] = [f"{code + 1}: {titles[code]}" for code in codes]
    return frame


def satellite(located: Located, *, part: str = "both") -> pd.DataFrame:
    """Statlog Landsat: nine pixels in four bands, the class of the middle one."""
    names = _part(part, "sat.trn.gz", "sat.tst.gz")
    return _stacked(located, names, _numbered("f", 36, "class"), sep=" ")


def robot(located: Located) -> pd.DataFrame:
    """Wall-following robot: 24 ultrasound readings and the move."""
    raw = located.read("sensor_readings_24.data.gz")
    return _csv(raw, header=None, names=_numbered("us", 24, "move"))


def adult(located: Located, *, part: str = "both") -> pd.DataFrame:
    """Adult: the test file has a first line to skip and a dot after each label."""
    import pandas as pd

    frames = [
        _csv(
            located.read(name),
            header=None,
            names=_ADULT,
            skipinitialspace=True,
            skiprows=1 if name == "adult.test.gz" else 0,
        )
        for name in _part(part, "adult.data.gz", "adult.test.gz")
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame["income"] = frame["income"].str.removesuffix(".")
    return frame


def pendigits(located: Located, *, part: str = "both") -> pd.DataFrame:
    """Pen digits: eight positions of the pen."""
    columns = [f"{axis}{i}" for i in range(1, 9) for axis in "xy"]
    names = _part(part, "pendigits.tra.gz", "pendigits.tes.gz")
    return _stacked(located, names, [*columns, "digit"], skipinitialspace=True)


def grid(located: Located) -> pd.DataFrame:
    """Grid stability, without ``stab``, whose sign is the label."""
    return _csv(located.read("Data_for_UCI_named.csv.gz")).drop(columns="stab")


def iot(located: Located) -> pd.DataFrame:
    """RT-IoT2022: network flows and the kind of attack."""
    frame = _csv(located.read("RT_IOT2022.csv.gz"), index_col=0).reset_index(drop=True)
    return frame[[column for column in frame if column != "Attack_type"] + ["Attack_type"]]


def building(located: Located, *, target: str = "V-9") -> pd.DataFrame:
    """Residential buildings: sales price (V-9) or cost (V-10); the other one is left out."""
    other: str = _choice("target", target, {"V-9": "V-10", "V-10": "V-9"})
    if "Residential-Building-Data-Set.csv.gz" in located:
        frame = _csv(located.read("Residential-Building-Data-Set.csv.gz"))
    else:
        name = "Residential-Building-Data-Set.xlsx.gz"
        frame = _excel(located, name, "openpyxl", sheet_name="Data", header=1)
        frame = frame.rename(columns=_lags([str(column) for column in frame.columns]))
    return frame.drop(columns=other)


def _lags(columns: list[str]) -> dict[str, str]:
    """Name the repeated columns as the CSV does: V-11, V-11.1 becomes V-11.lag1, V-11.lag2."""
    renamed = {}
    for column in columns:
        stem, _, repeat = column.partition(".")
        if repeat.isdigit() or f"{stem}.1" in columns:
            renamed[column] = f"{stem}.lag{int(repeat or 0) + 1}"
    return renamed


def wine_quality(located: Located) -> pd.DataFrame:
    """Red wine and its quality."""
    return _csv(located.read("winequality-red.csv.gz"), sep=";")


def housing(located: Located) -> pd.DataFrame:
    """Boston housing: fixed-width text."""
    return _csv(located.read("housing.data.gz"), sep=r"\s+", header=None, names=_HOUSING)


def fish(located: Located, *, target: str = "Species") -> pd.DataFrame:
    """Fish market: the species, or ``target="Weight"``."""
    _choice("target", target, {"Species": None, "Weight": None})
    frame = _csv(located.read("Fish.csv.gz"), encoding="utf-8-sig")
    return frame[[column for column in frame if column != target] + [target]]


def motor(located: Located) -> pd.DataFrame:
    """Motor temperature: guest and host joined by ``idx``, which is then left out."""
    guest = _csv(located.read("motor_hetero_guest.csv.gz"))
    host = _csv(located.read("motor_hetero_host.csv.gz"))
    frame = guest.merge(host, on="idx", validate="one_to_one").drop(columns="idx")
    return frame[[column for column in frame if column != "pm"] + ["pm"]]


def vehicle(located: Located) -> pd.DataFrame:
    """Vehicle silhouettes: nine files of one layout."""
    names = [file.name for file in located.card.files]
    return _stacked(located, names, _VEHICLE, sep=r"\s+")


PARSERS: dict[str, Callable[..., Any]] = {
    "bank-marketing": bank,
    "credit-card-default": credit,
    "sensorless-drive": drive,
    "online-news": news,
    "statlog-satellite": satellite,
    "wall-following-robot": robot,
    "adult": adult,
    "pendigits": pendigits,
    "grid-stability": grid,
    "rt-iot2022": iot,
    "residential-building": building,
    "wine-quality": wine_quality,
    "boston-housing": housing,
    "fish-market": fish,
    "motor-temperature": motor,
    "statlog-vehicle": vehicle,
}
