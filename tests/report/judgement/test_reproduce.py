import hashlib

import fairtrial
from fairtrial import judge
from fairtrial.report.sections.sources import build_files_frame, build_judgement_reproduction_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import sections, text_of, two_classes


def test_command_hash_and_version(tmp_path):
    path = tmp_path / "my file.csv"
    two_classes(60).to_csv(path, index=False)
    for stream in (None, True):
        found = judge(str(path), positive="no", measures=["auc", "ks"], resamples=20, stream=stream)
        more = " --stream" if stream else ""
        command = f"fairtrial judge 'my file.csv' --measure auc --measure ks --resamples 20 --positive no{more}"
        assert command in build_judgement_reproduction_section(describe_source(found)).code
        assert fairtrial.__version__ in text_of(build_judgement_reproduction_section(describe_source(found)))
        assert build_files_frame(found).to_numpy().tolist() == [["my file.csv", hashlib.sha256(path.read_bytes()).hexdigest()]]


def test_a_frame_has_no_command():
    found = sections("two classes")["reproduce"]
    assert found.tables == ()
    assert found.code == ""
