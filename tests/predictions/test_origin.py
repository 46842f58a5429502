import hashlib
import shlex

import fairtrial
from fairtrial.measures import get_measure
from fairtrial.predictions.judgement import record_origin


def test_files_are_hashed_and_the_command_can_be_typed(tmp_path):
    path = tmp_path / "it's.csv"
    path.write_bytes(b"truth,p")
    options = {
        "measures": get_measure("ks"),
        "seed": 3,
        "stream": False,
        "subgroup": ["sex", "age"],
        "y_true": "t",
        "row": None,
    }
    found = record_origin([path], options)
    assert found.files == (("it's.csv", hashlib.sha256(b"truth,p").hexdigest()),)
    command = '"it\'s.csv" --measure ks --seed 3 --subgroup sex --subgroup age --y-true t'
    assert shlex.split(found.command)[2:] == shlex.split(command)
    assert found.version == fairtrial.__version__


def test_a_frame_has_neither():
    assert record_origin([], {}).command == ""
