"""Parquet files as data sets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fairtrial.data.dataset import Dataset
from fairtrial.data.frames import check_column_names, convert_arrow_table, read_frame
from fairtrial.errors import InputError


def read_parquet(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    name: str | None = None,
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
) -> Dataset:
    """A Parquet file as a data set. The class is the column `target`, or the last one; dictionary columns are nominal.

    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame({"size": [1, 2], "kind": ["a", "b"]}).to_parquet(Path(folder) / "two.parquet")
    ...     read_parquet(Path(folder) / "two.parquet")
    <Dataset two: 2 rows, 1 attributes, 2 classes>
    """
    import pyarrow as pa
    from pyarrow import parquet

    path = Path(path)
    try:
        file = parquet.ParquetFile(path)
        names = file.schema_arrow.names
        left_out = check_column_names("drop", drop, names, str(path))
        table = file.read(columns=[column for column in names if column not in left_out])
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {str(error).strip().splitlines()[0]}") from None
    return read_frame(
        convert_arrow_table(table), target=target, name=name or path.stem, nominal=nominal, numeric=numeric, source=str(path)
    )
