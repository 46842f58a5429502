"""Load data sets from OpenML by ID or name. Each data set is downloaded only once and then read from a cache."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from fairtrial.data.arff import read_arff
from fairtrial.data.dataset import Dataset
from fairtrial.data.reading import convert_dataset_types
from fairtrial.errors import InputError, UnknownNameError

VARIABLE = "FAIRTRIAL_CACHE"


def cache_folder() -> Path:
    """Return the folder named in the environment variable FAIRTRIAL_CACHE. Default: the platform's cache folder."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fairtrial"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fairtrial" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairtrial"


def write_atomically(path: Path, content: bytes) -> Path:
    """Write a file completely, or leave it unchanged if an error occurs."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}: set {VARIABLE} to another folder") from None
    return path


SERVER = "https://www.openml.org"


_SECONDS = 60


_NOT_THERE = (404, 412)


def load_openml(which: str | int) -> Dataset:
    """Load a data set by its OpenML ID or name, from the cache or the network.

    If several active data sets have this name, the oldest one is loaded. The class is the default target on OpenML. Columns
    that OpenML marks as row ids or as columns to ignore are left out.
    """
    text = str(which).strip()
    if not text:
        raise InputError("an OpenML data set must have a number or a name, got neither: try 'openml:61'")
    number = int(text) if text.isascii() and text.isdigit() else _find_number(text)
    facts = _fetch_description(number)
    path = cache_folder() / "openml" / str(number) / "data.arff"
    if not path.is_file():
        write_atomically(path, _download(facts))
    return _read_openml(path, facts, number)


def _read_openml(path: Any, facts: dict[str, Any], number: int) -> Dataset:
    target = facts.get("default_target_attribute")
    where = f"OpenML data set {number} ({facts.get('name')})"
    if not target or "," in target:
        targets_text = f"the targets {target!r}" if target else "no target"
        raise InputError(
            f"{where} must have a single target, got {targets_text}: call fairtrial.data.read({str(path)!r}, target=...) to "
            "choose one"
        )
    data = read_arff(path, target=target, name=str(facts.get("name")))
    left_out = [column for column in _collect_names(facts, "row_id_attribute", "ignore_attribute") if column in data.X.columns]
    data = convert_dataset_types(data, drop=left_out)
    notes = (*data.notes, f"version {facts.get('version')}", *(f"left out: {column}" for column in left_out))
    return replace(data, source=f"openml:{number}", notes=notes)


def _collect_names(facts: dict[str, Any], *fields: str) -> list[str]:
    names: list[str] = []
    for field in fields:
        value = facts.get(field) or []
        names += value.split(",") if isinstance(value, str) else [str(name) for name in value]
    return [name.strip() for name in names]


def _find_number(name: str) -> int:
    """Find the OpenML ID of the oldest active data set with this name."""
    path = cache_folder() / "openml" / "names" / f"{quote(name, safe='')}.json"
    if path.is_file():
        return int(json.loads(path.read_text())["number"])
    answer = _fetch_json(
        f"{SERVER}/api/v1/json/data/list/data_name/{quote(name, safe='')}/limit/100/status/active", f"called {name!r}"
    )
    try:
        oldest = min(answer["data"]["dataset"], key=lambda entry: int(entry["version"]))
        number = int(oldest["did"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"OpenML's answer about {name!r} cannot be read: pass the number of the data set") from None
    write_atomically(path, json.dumps({"number": number}).encode())
    return number


def _fetch_description(number: int) -> dict[str, Any]:
    path = cache_folder() / "openml" / str(number) / "description.json"
    if path.is_file():
        return dict(json.loads(path.read_text()))
    answer = _fetch_json(f"{SERVER}/api/v1/json/data/{number}", f"numbered {number}")
    facts = answer.get("data_set_description") if isinstance(answer, dict) else None
    if not isinstance(facts, dict) or "url" not in facts:
        raise InputError(f"OpenML's answer about data set {number} cannot be read: it does not name a file")
    if str(facts.get("format", "")).lower() not in ("arff", "sparse_arff"):
        raise InputError(f"OpenML data set {number} must be an ARFF file, got {facts.get('format')!r}")
    write_atomically(path, json.dumps(facts).encode())
    return facts


def _download(facts: dict[str, Any]) -> bytes:
    content = _fetch(str(facts["url"]), f"numbered {facts.get('id')}")
    declared = facts.get("md5_checksum")
    if declared and hashlib.md5(content, usedforsecurity=False).hexdigest() != declared:
        raise InputError(f"the file of OpenML data set {facts.get('id')} does not match its checksum: try again")
    return content


def _fetch_json(url: str, which: str) -> Any:
    try:
        return json.loads(_fetch(url, which))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"OpenML's answer about the data set {which} is not JSON: try again later") from None


def _fetch(url: str, which: str) -> bytes:
    if urlsplit(url).scheme not in ("http", "https"):
        raise InputError(f"the URL of an OpenML file must begin with http, got {url!r}")
    try:
        with urlopen(Request(url, headers={"User-Agent": "fairtrial"}), timeout=_SECONDS) as answer:
            return bytes(answer.read())
    except HTTPError as error:
        error.close()
        if error.code in _NOT_THERE:
            raise UnknownNameError(f"OpenML has no active data set {which}: search {SERVER}/search?type=data") from None
        raise InputError(f"OpenML answered with error {error.code}: try again later") from None
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(
            f"OpenML cannot be reached ({reason}), and the data set {which} is not in the cache: check the network"
        ) from None
