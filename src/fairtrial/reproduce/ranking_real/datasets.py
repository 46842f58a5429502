"""The ten data sets of Table 1, encoded for the kernels, and the variants of Cylinder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.reproduce.experiment import load_datasets
from fairtrial.reproduce.ranking_kernels import Classes, CodedColumns

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

DATASET_NAMES = ("Sonar", "Spect", "Heart", "Liver", "Ionosphere", "House", "Cylinder", "Credit", "Transfusion", "Pima")
CYLINDER = "Cylinder"
STAND_IN = "wdbc"
# KEEL's copies lack rows with missing values and a column of ionosphere, so only those that are complete are used.
CATALOGUE_NAMES: dict[str, list[str]] = {
    "Sonar": ["uci/sonar", "keel-standard/sonar", "sonar"],
    "Heart": ["uci/heart-statlog", "heart-statlog"],
    "Liver": ["keel-standard/bupa", "bupa"],
    "Ionosphere": ["uci/ionosphere"],
    "House": ["uci/vote", "vote"],
    "Cylinder": ["uci/cylinder-bands", "cylinder-bands"],
    "Credit": ["uci/credit-a", "credit-a"],
    "Transfusion": ["uci/transfusion", "transfusion"],
    "Pima": ["uci/diabetes", "keel-standard/pima", "pima"],
}
SPECT_NAMES = {"train": ["uci/spect.train", "spect.train"], "test": ["uci/spect.test", "spect.test"]}
# The name in the UCI repository, and the preferred file.
UCI_FILES: dict[str, tuple[str, str]] = {
    "Sonar": ("Connectionist Bench, Sonar", "uci/sonar.arff"),
    "Spect": ("SPECT Heart", "uci/spect.train.arff and uci/spect.test.arff"),
    "Heart": ("Statlog, Heart", "uci/heart-statlog.arff"),
    "Liver": ("Liver Disorders", "keel-standard/bupa.dat"),
    "Ionosphere": ("Ionosphere", "uci/ionosphere.arff"),
    "House": ("Congressional Voting Records", "uci/vote.arff"),
    "Cylinder": ("Cylinder Bands", "uci/cylinder-bands.arff"),
    "Credit": ("Credit Approval", "uci/credit-a.arff"),
    "Transfusion": ("Blood Transfusion Service Center", "uci/transfusion.data"),
    "Pima": ("Pima Indians Diabetes", "uci/diabetes.arff"),
}
_IDENTIFIERS = ("timestamp", "cylinder_number", "customer", "job_number")


@dataclass(frozen=True, eq=False)
class EncodedDataset:
    """An encoded data set with two classes.

    `codes` (columns x rows) contains -1 for missing values. `classes` contains 1 for the rarer class and 0 for the other.
    `columns` contains the value of each code.
    """

    name: str
    codes: IntArray
    classes: Classes
    columns: CodedColumns
    content_hash: str


def encode_dataset(name: str, dataset: Dataset) -> EncodedDataset:
    """Encode the values of each column as integers.

    >>> from fairtrial.data import Dataset
    >>> table = {"size": [3.5, 1.5, None], "hue": ["red", "blue", "red"]}
    >>> encoded = encode_dataset("things", Dataset.from_table(__import__("pandas").DataFrame(table), ["a", "b", "a"]))
    >>> encoded.codes.tolist(), encoded.classes.tolist()
    ([[1, 0, -1], [1, 0, 1]], [0, 1, 0])
    """
    counts = dataset.y.value_counts()
    present = counts[counts > 0]
    if len(present) != 2:
        raise InputError(f"data sets of ranking-real must have 2 classes, got {len(present)} in {name}")
    classes = (dataset.y == present.index[-1]).to_numpy().astype(np.uint8)
    codes, levels, nominal = zip(*(_encode_column(column) for _, column in dataset.X.items()), strict=True)
    offsets = np.cumsum([0, *map(len, levels)])
    columns = CodedColumns(np.concatenate(levels), offsets, np.array(nominal, np.uint8))
    return EncodedDataset(name, np.array(codes), classes, columns, dataset.content_hash)


def _encode_column(column: pd.Series[Any]) -> tuple[IntArray, FloatArray, bool]:
    if hasattr(column.dtype, "categories"):
        return column.cat.codes.to_numpy().astype(np.int64), np.arange(len(column.cat.categories), dtype=float), True
    values = column.to_numpy(np.float64)
    known = ~np.isnan(values)
    codes = np.full(len(values), -1)
    levels, codes[known] = np.unique(values[known], return_inverse=True)
    return codes, levels, False


def load_encoded_datasets(*, stand_in: bool = False) -> tuple[dict[str, EncodedDataset], dict[str, str]]:
    """Load the data sets, and report why each of the others is missing.

    If none is found and `stand_in` is true, a data set of scikit-learn is loaded instead. Results on it cannot be compared
    with the paper.
    """
    datasets, missing = load_datasets(CATALOGUE_NAMES)
    spect_files, missing_files = load_datasets(SPECT_NAMES)
    if missing_files:
        missing["Spect"] = next(iter(missing_files.values()))
    else:
        datasets["Spect"] = _join_spect(spect_files["train"], spect_files["test"])
    if not datasets and stand_in:
        datasets, _ = load_datasets({STAND_IN: STAND_IN})
    if not datasets:
        raise InputError(
            "ranking-real must find at least one of its ten data sets, got none: set FAIRTRIAL_DATA to the folder that "
            "contains them"
        )
    encoded = {name: encode_dataset(name, datasets[name]) for name in (*DATASET_NAMES, STAND_IN) if name in datasets}
    return encoded, {name: _explain_missing(name, reason) for name, reason in missing.items()}


def _join_spect(*files: Dataset) -> Dataset:
    """Join both files of Spect.

    The class is the first column of these files, but the loader takes the last column as the class.
    """
    import pandas as pd

    from fairtrial.data import Dataset

    frames = [pd.concat([file.X, file.y], axis=1).astype(str) for file in files]
    table = pd.concat(frames, ignore_index=True)
    target = str(frames[0].columns[0])
    attributes = table.drop(columns=target)
    return Dataset.from_table(attributes, table[target], name="spect", target=target, nominal=list(attributes.columns))


def _explain_missing(name: str, reason: str) -> str:
    """Return a message that names the file to add.

    If a file exists but cannot be read, return the original reason.
    """
    names = CATALOGUE_NAMES[name] if name in CATALOGUE_NAMES else [name for names in SPECT_NAMES.values() for name in names]
    if _is_unreadable(names):
        return reason
    title, file = UCI_FILES[name]
    return f"the UCI data set {title} was not found: put {file} into a folder and set FAIRTRIAL_DATA to that folder"


def _is_unreadable(names: Iterable[str]) -> bool:
    from fairtrial.data import load

    for name in names:
        try:
            load(name)
        except UnknownNameError:
            continue
        except InputError:
            return True
    return False


def encode_cylinder_variants() -> dict[str, EncodedDataset]:
    """Encode the variants of Cylinder and return them keyed by description.

    There are several because the paper does not specify which columns and rows it used.
    """
    datasets, _ = load_datasets({CYLINDER: CATALOGUE_NAMES[CYLINDER]})
    return vary_columns_and_rows(datasets[CYLINDER]) if datasets else {}


def vary_columns_and_rows(dataset: Dataset) -> dict[str, EncodedDataset]:
    """Encode three variants of a data set.

    The variants are: without identifiers, without incomplete rows, and with missing values as a category.
    """
    X, y = dataset.X, dataset.y
    is_complete = X.notna().all(axis=1)
    frames = {
        "without dates, names and serial numbers": (X.drop(columns=list(_IDENTIFIERS), errors="ignore"), y),
        "complete rows only": (X[is_complete].reset_index(drop=True), y[is_complete].reset_index(drop=True)),
        "missing values of nominal columns as a category": (X.apply(_add_missing_category), y),
    }
    return {description: encode_dataset(CYLINDER, _build_dataset(*frame)) for description, frame in frames.items()}


def _build_dataset(X: pd.DataFrame, y: pd.Series[str]) -> Dataset:
    from fairtrial.data import Dataset

    nominal = [name for name in X if hasattr(X[name].dtype, "categories")]
    return Dataset.from_table(X, y.astype(str), name=CYLINDER.lower(), nominal=nominal)


def _add_missing_category(column: pd.Series[Any]) -> pd.Series[Any]:
    """Turn missing values of a nominal column into a category.

    Missing numbers stay missing.
    """
    if not hasattr(column.dtype, "categories") or not column.isna().any():
        return column
    return column.cat.add_categories(["?"]).fillna("?")
