"""OpenML, played by a server on this machine that gives the real answers which scikit-learn keeps for its own tests."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
import sklearn.datasets
from sklearn.externals import _arff as liac_arff

from fairtrial import data
from fairtrial.data import openml
from fairtrial.errors import InputError, UnknownNameError

RECORDED = Path(sklearn.datasets.__file__).parent / "tests" / "data" / "openml"
SETS = (61, 62, 2, 40966, 40945, 40589)


def unpacked(number, pattern):
    return gzip.decompress(next((RECORDED / f"id_{number}").glob(pattern)).read_bytes())


def pages():
    """What the real server answers, by path."""
    found = {}
    for number in SETS:
        facts = unpacked(number, f"api-v1-jd-{number}.json.gz")
        found[f"/api/v1/json/data/{number}"] = facts
        url = json.loads(facts)["data_set_description"]["url"]
        found[url.removeprefix(openml.SERVER)] = unpacked(number, "data-v1-dl-*.arff.gz")
    found["/api/v1/json/data/list/data_name/iris/limit/100/status/active"] = unpacked(61, "*-dn-iris-l-2-s-act-.json.gz")
    found["/api/v1/json/data/7"] = b'{"data_set_description": {"id": "7", "url": "file:///etc/hosts", "format": "ARFF"}}'
    found["/api/v1/json/data/8"] = b'{"data_set_description": {"id": "8", "url": "x", "format": "Parquet"}}'
    found["/api/v1/json/data/9"] = b"<html>"
    return found


@pytest.fixture
def server(monkeypatch, tmp_path):
    """The server; the paths that it was asked for are in `asked`."""
    if not RECORDED.is_dir():
        pytest.skip("this scikit-learn comes without its tests")
    answers, asked = pages(), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = answers.get(self.path)
            code = 200 if body is not None else 500 if "500" in self.path else 412
            body = body or b'{"error": {"code": "111", "message": "Unknown dataset"}}'
            body = body.replace(b"https:\\/\\/www.openml.org", openml.SERVER.encode())
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr(openml, "SERVER", f"http://127.0.0.1:{running.server_port}")
    monkeypatch.setenv("FAIRTRIAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    running.asked, running.answers = asked, answers
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def test_by_number_and_then_from_the_cache(server):
    iris = data.load("openml:61")
    assert (iris.name, iris.target, iris.source) == ("iris", "class", "openml:61")
    assert iris.classes == ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    assert len(iris) == 150
    assert "version 1" in iris.notes
    asked = len(server.asked)
    assert data.load("openml:61") == iris
    assert len(server.asked) == asked == 2


def test_by_name_the_oldest_active_version(server):
    assert data.load("openml:iris") == data.load("openml:61")
    asked = len(server.asked)
    data.load("openml:iris")
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    ("number", "left_out"), [(62, ["animal"]), (40966, ["MouseID", "Genotype", "Treatment", "Behavior"]), (2, [])]
)
@pytest.mark.usefixtures("server")
def test_the_same_values_as_another_parser_without_ignored_columns(number, left_out):
    found = data.load(f"openml:{number}")
    parsed = liac_arff.loads(unpacked(number, "data-v1-dl-*.arff.gz").decode())
    table = pd.DataFrame(parsed["data"], columns=[name for name, _ in parsed["attributes"]])
    kept = [name for name in table.columns if name not in [*left_out, found.target]]
    assert found.X.columns.tolist() == kept
    assert found.y.tolist() == table[found.target].tolist()
    declared = dict(parsed["attributes"])
    for name in kept:
        if isinstance(declared[name], list):
            assert found.X[name].cat.categories.tolist() == declared[name]
            assert [None if pd.isna(each) else each for each in found.X[name]] == [
                None if pd.isna(each) else each for each in table[name]
            ]
        else:
            pd.testing.assert_series_equal(found.X[name], table[name].astype(float))


@pytest.mark.usefixtures("server")
def test_several_targets_are_refused_with_the_file_to_read():
    with pytest.raises(InputError, match=r"40589 \(emotions\).*read\('.*data\.arff', target="):
        data.load("openml:40589")


@pytest.mark.usefixtures("server")
def test_unknown_sets():
    with pytest.raises(UnknownNameError, match="123456"):
        data.load("openml:123456")
    with pytest.raises(UnknownNameError, match="'irs / x'"):
        data.load("openml:irs / x")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openml:", "openml:61"),
        ("openml:7", "URL"),
        ("openml:8", "8 .*'Parquet'"),
        ("openml:9", "9 .*JSON"),
        ("openml:500", "500"),
    ],
)
@pytest.mark.usefixtures("server")
def test_answers_that_cannot_be_used(name, message):
    with pytest.raises(InputError, match=message):
        data.load(name)


def test_an_incomplete_download_is_not_kept(server):
    url = "/data/v1/download/61/iris.arff"
    whole = server.answers[url]
    server.answers[url] = whole[:-100]
    with pytest.raises(InputError, match="checksum"):
        data.load("openml:61")
    server.answers[url] = whole
    assert len(data.load("openml:61")) == 150


def test_without_network(monkeypatch, tmp_path):
    monkeypatch.setattr(openml, "SERVER", "http://127.0.0.1:9")
    monkeypatch.setenv("FAIRTRIAL_CACHE", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(InputError, match=r"\(.*\).*61"):
        data.load("openml:61")
