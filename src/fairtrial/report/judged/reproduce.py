"""How to have the same judgement again: the command, the hashes of the files, the version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.section import Section, Table
from fairtrial.report.sentence import say

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement


def section(judgement: Judgement) -> Section:
    """Of files their command and hashes; of a frame that it came from memory."""
    origin = judgement.origin
    version = say("This page was made by fairtrial {version}.", version=origin.version or "of an unknown version")
    if not origin.files:
        words = say("The predictions were given in memory: write them to a file to judge it again by a command.")
        return Section("reproduce", "How to reproduce", (words, version))
    words = say("The same files and the same version give the same numbers.")
    table = Table("reproduce-files", "The files that were judged", files_frame(judgement))
    code = f"pip install fairtrial=={origin.version}\n{origin.command}\n"
    return Section("reproduce", "How to reproduce", (words, version), (), (table,), code=code)


def files_frame(judgement: Judgement) -> pd.DataFrame:
    """A line for each file with its SHA-256."""
    import pandas as pd

    return pd.DataFrame(list(judgement.origin.files), columns=["file", "SHA-256"])
