"""Audit folds from KEEL files, from a table of splits, or from a resampling scheme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial._check import check_one_of
from fairtrial._narrative import name_argument
from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.resampling.audit import Audit, audit
from fairtrial.resampling.splits import read_splits
from fairtrial.resampling.splitter import FoldSplitter, schemes


def audit_file(
    path: str | Path,
    *,
    splits: str | Path | None = None,
    scheme: str | None = None,
    n_splits: int = 5,
    assign: str | None = None,
    seed: int = 0,
    target: str | None = None,
    **options: Any,
) -> Audit:
    """Audit folds from a KEEL file, from a table of splits, or from a resampling scheme.

    Parameters
    ----------
    path : path or str
        A zip file or folder with folds in KEEL format, a data file, or the name of a data set in the catalogue.
    splits : path, optional
        CSV table that contains the splits of the data set.
    scheme : str, optional
        Resampling scheme that draws the folds.
    n_splits : int, default 5
        Number of folds to draw. Only used with `scheme`.
    assign : str, optional
        Assignment rule of DOB-SCV. Only for the scheme "dob-scv".
    seed : int, default 0
        Seed for drawing the folds and for the audit.
    target : str, optional
        Class column of a data file.
    **options
        Further options, passed to `fairtrial.resampling.audit`.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "rows.csv"
    ...     _ = file.write_text("size,class\\n" + "\\n".join(f"{i},{'ab'[i % 2]}" for i in range(40)))
    ...     result = audit_file(file, scheme="stratified", n_splits=2)
    >>> result.ok
    True
    """
    if splits is not None and scheme is not None:
        raise InputError("splits and scheme must not both be given: pass one of them")
    if assign is not None and scheme != "dob-scv":
        raise InputError(f"assign must be omitted unless the scheme is dob-scv, got {assign!r}")
    if splits is None and scheme is None:
        from fairtrial.data import read_folds

        if Path(path).suffix.lower() != ".zip" and not Path(path).is_dir():
            options_text = f"{name_argument('splits', 'FILE')} (a CSV table) or {name_argument('scheme', 'NAME')}"
            names = join_names(_list_fold_schemes(), conjunction="or")
            raise InputError(f"{path} has no folds: pass {options_text} ({names})")
        folds = read_folds(path)
        return audit(folds.splits, folds.dataset, random_state=seed, **options)
    dataset = _load_dataset(path, target)
    if splits is not None:
        return audit(read_splits(splits, len(dataset)), dataset, random_state=seed, **options)
    return audit(_build_audit_splitter(str(scheme), n_splits, assign, seed), dataset, random_state=seed, **options)


def _load_dataset(path: str | Path, target: str | None) -> Any:
    from fairtrial.data import load, read

    if Path(path).exists() or Path(path).suffix:
        return read(path, target=target)
    if target is not None:
        raise InputError(f"target must be omitted for a data set of the catalogue, got {target!r}")
    return load(str(path))


def _build_audit_splitter(scheme: str, n_splits: int, assign: str | None, seed: int) -> Any:
    check_one_of("scheme", scheme, _list_fold_schemes())
    options = {} if assign is None else {"assign": assign}
    return schemes[scheme](n_splits, random_state=seed, **options)  # type: ignore[call-arg]


def _list_fold_schemes() -> list[str]:
    return [name for name in schemes if issubclass(schemes[name], FoldSplitter) and not schemes[name]._uses_groups]
