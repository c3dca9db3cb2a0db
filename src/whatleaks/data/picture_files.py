"""Pictures of the user's own: a folder with one folder for each class, or an .npz of arrays.

All pictures of a set have one size. They are read as bytes per pixel and colour; transparency
is left out. Files are read by matplotlib, which is a dependency anyway.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.data.images import Pixels
from whatleaks.errors import TableError, argument

KINDS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm", ".webp")
LARGEST = 64  # pixels of height and width: as large as those of the paper
SMALLEST = 4  # every network halves a half twice or more
FEWEST = 60  # of all pictures
FEWEST_OF_A_CLASS = 2  # one to train with, one to be judged by


@dataclass(frozen=True)
class OwnPictures:
    """A set of pictures: records x height x width x colours; labels index ``classes``."""

    name: str
    pixels: Pixels
    labels: Ints
    classes: tuple[str, ...]

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return int(self.pixels.shape[1])

    @property
    def colours(self) -> int:
        """1 of grey pictures, else 3."""
        return int(self.pixels.shape[3])


def read_pictures(path: Path) -> OwnPictures:
    """Read a folder or an .npz; whatever cannot be audited is refused on one line."""
    if path.is_dir():
        found = _folder(path)
    elif not path.exists():
        raise _refused(f"there is no file or folder {path}")
    elif path.suffix.lower() == ".npz":
        found = _archive(path)
    else:
        raise _refused(f"{path} is no folder and no .npz: name one of these")
    return checked(found)


def checked(found: OwnPictures) -> OwnPictures:
    """Refuse a set that no split federation could be audited on."""
    _, high, wide, _ = found.pixels.shape
    if not (SMALLEST <= high <= LARGEST and SMALLEST <= wide <= LARGEST):
        raise _refused(
            f"pictures of {found.name} are {high} x {wide} pixels: bring them to at least "
            f"{SMALLEST} x {SMALLEST} and at most {LARGEST} x {LARGEST}"
        )
    if len(found.classes) < 2:
        raise _refused(
            f"all pictures of {found.name} are of one class ({found.classes[0]}): there is nothing "
            "to predict, so nobody would join; add pictures of another class"
        )
    count = len(found.labels)
    if count < FEWEST:
        raise _refused(
            f"{found.name} has {count} pictures: give at least {FEWEST}, of which some train, some "
            "are the hijacker's and the rest are attacked"
        )
    fewest, times = min(Counter(found.labels.tolist()).items(), key=lambda item: item[1])
    if times < FEWEST_OF_A_CLASS:
        raise _refused(
            f"class {found.classes[fewest]} of {found.name} has one picture: give at least "
            f"{FEWEST_OF_A_CLASS} of every class, or leave it out"
        )
    if np.ptp(found.pixels.astype(np.int16), axis=0).max() == 0:
        raise _refused(f"all pictures of {found.name} are the same one: nothing could leak")
    return found


def _folder(path: Path) -> OwnPictures:
    """Read FOLDER/CLASS/PICTURE; hidden files and other kinds of files are not looked at."""
    within = sorted(child for child in path.iterdir() if not child.name.startswith("."))
    folders = [child for child in within if child.is_dir()]
    if not folders:
        loose = sum(child.suffix.lower() in KINDS for child in within)
        raise _refused(
            f"{path} has no labels ({loose} pictures, no folders in it): put the pictures of every "
            "class into a folder of that class's name"
        )
    pictures: list[Pixels] = []
    labels: list[int] = []
    names: list[str] = []
    first = None
    for folder in folders:
        files = sorted(f for f in folder.iterdir() if f.suffix.lower() in KINDS)
        if not files:
            continue
        names.append(folder.name)
        for file in files:
            read = _picture(file)
            first = first or file
            if pictures and read.shape != pictures[0].shape:
                raise _refused(
                    f"{first} is {_size(pictures[0])}, {file} is {_size(read)}: bring all pictures "
                    "to one size and one number of colours"
                )
            pictures.append(read)
            labels.append(len(names) - 1)
    if not pictures:
        raise _refused(
            f"the folders of {path} hold no pictures ({', '.join(KINDS[:3])} and others)"
        )
    return OwnPictures(path.resolve().name, np.stack(pictures), sealed_ints(labels), tuple(names))


def _picture(file: Path) -> Pixels:
    """Read one picture as height x width x colours."""
    from matplotlib.image import imread

    try:
        found = np.asarray(imread(file))
    except (OSError, ValueError, SyntaxError, TypeError) as error:  # SyntaxError: a broken PNG
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _refused(f"{file} cannot be read as a picture ({told}): take it out") from None
    if found.dtype.kind == "f":  # what PNG files become
        found = np.rint(255.0 * found)
    elif found.dtype.itemsize > 1:
        found = found // 257  # 16 bits
    shaped = found.reshape(*found.shape[:2], -1)
    colours = {1: 1, 2: 1, 3: 3, 4: 3}.get(shaped.shape[2])
    if colours is None:
        raise _refused(f"{file} has {shaped.shape[2]} channels: give grey pictures or RGB")
    kept: Pixels = shaped[:, :, :colours].astype(np.uint8)
    return kept


def _size(picture: Pixels) -> str:
    kind = "grey" if picture.shape[2] == 1 else "in colour"
    return f"{picture.shape[0]} x {picture.shape[1]} {kind}"


def _archive(path: Path) -> OwnPictures:
    """Read ``x`` (records x height x width, or x 3) and ``y`` (one label for each)."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("x", "y") if name in archive}
            names = list(archive)
    except OSError as error:
        raise _refused(f"{path} cannot be read ({error.strerror or error})") from None
    except (ValueError, EOFError, zipfile.BadZipFile):
        # numpy's own words advise to unpickle; nobody should.
        raise _refused(f"{path} is no .npz of plain arrays: save x and y with np.savez") from None
    for name, meaning in (("x", "the pictures"), ("y", "the labels")):
        if name not in arrays:
            held = ", ".join(names) or "nothing"
            raise _refused(
                f"{path} has no array {name}: save {meaning} under that name (it holds {held})"
            )
    return of_arrays(arrays, path.name)


def of_arrays(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> OwnPictures:
    """Turn arrays ``x`` and ``y`` into a set of pictures."""
    pixels, labels = arrays["x"], arrays["y"]
    if pixels.ndim not in (3, 4) or (pixels.ndim == 4 and pixels.shape[3] not in (1, 3)):
        raise _refused(
            f"x of {name} has the shape {pixels.shape}: give records x height x width, or x 3 for RGB"
        )
    if labels.shape != pixels.shape[:1]:
        raise _refused(
            f"y of {name} has the shape {labels.shape}, x holds {len(pixels)} pictures: give one "
            "label for each"
        )
    if not len(pixels):
        raise _refused(f"x of {name} holds no pictures")
    classes, indices = np.unique(labels.astype(str), return_inverse=True)
    told = tuple(str(c) for c in classes)
    shaped = _bytes(pixels, name).reshape(*pixels.shape[:3], -1)
    return OwnPictures(name, shaped, sealed_ints(indices), told)


def _bytes(pixels: npt.NDArray[Any], name: str) -> Pixels:
    """Bring pixels to 0 to 255: whole numbers of that range, or numbers from 0 to 1."""
    if pixels.dtype == np.uint8:
        return np.asarray(pixels)
    if pixels.dtype.kind not in "biuf" or not np.isfinite(pixels).all():
        raise _refused(f"x of {name} is no table of finite numbers: give whole numbers 0 to 255")
    lowest, highest = float(pixels.min()), float(pixels.max())
    largest = 1.0 if pixels.dtype.kind in "bf" else 255.0
    if lowest < 0.0 or highest > largest:
        raise _refused(
            f"x of {name} runs from {lowest:g} to {highest:g}: give whole numbers from 0 to 255, or "
            "fractions from 0 to 1"
        )
    scaled: Pixels = np.rint(pixels * (255.0 / largest)).astype(np.uint8)
    return scaled


def _refused(text: str) -> TableError:
    return TableError(f"{argument('images')}: {text}.")
