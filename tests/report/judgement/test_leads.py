"""On how many data sets each model is ahead."""

import pandas as pd

from fairtrial.report.sections import answer
from fairtrial.report.sections.answer import build_leads_table, describe_leads
from tests.report.judgement.cases import judged


def test_models_that_lead_equally_often_are_all_named():
    frame = pd.DataFrame({"best": [2, 2], "significantly better than all others": [1, 1]}, index=["forest", "tree"])
    told = answer._describe_significant_leads(frame)
    assert told.text == "By the rows of a data set alone, forest and tree are each ahead of all others on 1."


def test_the_table_holds_what_the_sentences_say():
    judgement = judged("many sets")
    frame = build_leads_table(judgement).frame
    assert int(frame["data sets"].max()) == 5
    for sentence in filter(None, describe_leads(judgement)):
        for number in sentence.numbers:
            if number.cell.table == answer.LEADS:
                assert frame.loc[number.cell.line, number.cell.column] == number.value
