"""What sections of a judgement share: its data sets and models, the facts in numbers, and words for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairtrial.measures import get_measure
from fairtrial.report.section import Number, Sentence, format_number
from fairtrial.report.selection import CLEAN as CLEAN, choose_main_condition, make_unique_keys, name_condition
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.study import Results

_MOST_NAMED = 8


make_keys, find_main_condition, describe_condition = make_unique_keys, choose_main_condition, name_condition


def format_condition_phrase(condition: ConditionFacts) -> str:
    """The condition as it stands in a sentence.

    >>> format_condition_phrase(ConditionFacts("class-noise", 0.1, "", {})), format_condition_phrase(ConditionFacts("clean", 0.0, "", {}))
    ('under class-noise 0.1', 'on clean data')
    """
    return "on clean data" if condition.name == CLEAN else f"under {describe_condition(condition)}"


def get_verdict_measure_name(results: Results) -> str:
    """The measure that the study is judged by: that of its verdict, or the first that it declares."""
    declared = results.archive.declaration.get("verdict")
    chosen = declared.get("measure") if isinstance(declared, Mapping) else None
    return str(chosen or results.measures[0])


def join_names(names: Sequence[str]) -> str:
    """Names in a row, the last after "and"; the first few of many.

    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) > _MOST_NAMED:
        return ", ".join(names[:_MOST_NAMED]) + " and others"
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def format_measure_name(measure: str) -> str:
    """A measure's name as it stands in a sentence.

    >>> format_measure_name("balanced_accuracy")
    'balanced accuracy'
    """
    return measure.replace("_", " ")


def concat_sentences(sentences: Sequence[Sentence]) -> Sentence:
    """Several sentences as one, one after the other.

    >>> concat_sentences([Sentence("First."), Sentence(" Second.")]).to_text
    'First. Second.'
    """
    return Sentence(
        "".join(sentence.text for sentence in sentences),
        tuple(name for sentence in sentences for name in sentence.names),
        tuple(number for sentence in sentences for number in sentence.numbers),
    )


def join_sentences(sentences: Sequence[Sentence | None]) -> Sentence:
    """Whole sentences as one, with a blank between them; those that are None are left out.

    >>> join_sentences([Sentence("First."), None, Sentence("Second.")]).to_text
    'First. Second.'
    """
    return concat_sentences(
        [piece for sentence in sentences if sentence is not None for piece in (sentence, Sentence(" "))][:-1]
    )


_TESTS = {
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign_test": "the sign test",
    "paired_t": "the paired t test",
    "corrected_resampled_t": "the corrected resampled t test",
    "five_by_two_f": "Alpaydin's F test on five repeats of two folds",
    "friedman": "Friedman's test",
    "iman_davenport": "Friedman's test in Iman and Davenport's form",
    "friedman (iman_davenport)": "Friedman's test in Iman and Davenport's form",
    "anova": "analysis of variance with repeated measures",
    "bayes_signed_rank": "the Bayesian signed-rank test",
    "bayes_sign": "the Bayesian sign test",
    "correlated_t": "the Bayesian correlated t test",
}


_PROCEDURES = {
    "none": "pairs without adjustment",
    "nemenyi": "pairs by Nemenyi's procedure",
    "tukey": "pairs by Tukey's procedure",
    "shaffer": "pairs by Shaffer's procedure",
    "bergmann": "pairs by Bergmann and Hommel's procedure",
    "bonferroni": "pairs by Bonferroni's procedure",
    "bonferroni-dunn": "pairs by Bonferroni and Dunn's procedure",
    "dunnett": "pairs by Dunnett's procedure",
    "holm": "pairs by Holm's procedure",
    "hochberg": "pairs by Hochberg's procedure",
    "sidak": "pairs by Šidák's procedure",
    "hommel": "pairs by Hommel's procedure",
    "holland": "pairs by Holland's procedure",
    "finner": "pairs by Finner's procedure",
    "rom": "pairs by Rom's procedure",
    "li": "pairs by Li's procedure",
}


_EFFECTS = {
    "rank_biserial": "rank biserial correlation",
    "cohens_d": "Cohen's d",
    "hedges_g": "Hedges' g",
    "cliffs_delta": "Cliff's delta",
    "vargha_delaney_a12": "Vargha and Delaney's A",
    "akinshin_gamma": "Akinshin's gamma",
}


def describe_test(name: str) -> str:
    """A test in words; the name itself where there are none.

    >>> describe_test("corrected_resampled_t"), describe_test("my_test")
    ('the corrected resampled t test', 'my_test')
    """
    return _TESTS.get(name, name)


def describe_choice(choice: str) -> str:
    """What `Verdict.choice` names: the test, and how pairs are compared.

    >>> describe_choice("friedman (iman_davenport) + bergmann")
    "Friedman's test in Iman and Davenport's form, pairs by Bergmann and Hommel's procedure"
    """
    test, *procedure = choice.split(" + ")
    return ", ".join([describe_test(test), *(_PROCEDURES.get(name, f"pairs by {name}") for name in procedure)])


def describe_effect(name: str) -> str:
    """An effect in words.

    >>> describe_effect("rank_biserial"), describe_effect("Kendall's W")
    ('rank biserial correlation', "Kendall's W")
    """
    return _EFFECTS.get(name, name)


FACTS = "judged-facts"


LEVEL, ALPHA = "confidence level, %", "alpha"


TESTS = {
    "mcnemar": "McNemar's test",
    "delong": "DeLong's test",
    "bootstrap_difference": "the bootstrap of the difference",
    "permutation_test": "the permutation test",
}


# Data sets (or classes of one) that get sentences and figures of their own; tables hold all of them.
MAX_PARTS = 6


def list_datasets(judgement: Judgement) -> list[str]:
    """The data sets, in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["dataset"])))


def list_models(judgement: Judgement) -> list[str]:
    """The models, in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["model"])))


def count_rows(judgement: Judgement) -> dict[str, int]:
    """How many rows a data set has: those of the model that predicts the most."""
    row_counts = judgement.scores.groupby("dataset", sort=False)["rows"].max()
    return {str(name): int(rows) for name, rows in row_counts.items()}


def select_largest_datasets(judgement: Judgement) -> list[str]:
    """The data sets with the most rows, as many as are shown one by one, in the order of the file."""
    rows = count_rows(judgement)
    chosen = sorted(rows, key=lambda name: -rows[name])[:MAX_PARTS]
    return [name for name in list_datasets(judgement) if name in chosen]


def get_direction(measure: str) -> str:
    """Whether larger or smaller values are better: "max" or "min"."""
    return str(get_measure(measure).facts.direction)


def build_facts_frame(judgement: Judgement) -> pd.DataFrame:
    """The judgement in numbers, by name."""
    import pandas as pd

    facts: dict[str, Any] = {
        "data sets": len(list_datasets(judgement)),
        "models": len(list_models(judgement)),
        "rows": sum(count_rows(judgement).values()),
        "measures": judgement.scores["measure"].nunique(),
        "paired tests": len(judgement.pairs),
        LEVEL: round(100 * judgement.level, 10),
        ALPHA: judgement.alpha,
    }
    facts[LEVEL] = int(facts[LEVEL]) if float(facts[LEVEL]).is_integer() else facts[LEVEL]
    return pd.DataFrame({"value": pd.Series(list(facts.values()), dtype=object)}).set_index(pd.Index(facts, name="fact"))


def get_fact(judgement: Judgement, name: str, template: str = "{:g}") -> Number:
    """One of these numbers, for a sentence."""
    return format_number(build_facts_frame(judgement), FACTS, name, "value", template)


def drop_single_dataset(frame: pd.DataFrame, several: bool) -> pd.DataFrame:
    """A table without the column of data sets, unless there are several; its lines counted from zero."""
    table = frame.rename(columns={"dataset": "data set"}).reset_index(drop=True)
    return table if several else table.drop(columns="data set", errors="ignore")


def format_count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> format_count(1, "model"), format_count(2500, "row")
    ('1 model', '2,500 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def join_test_names(names: Sequence[str]) -> str:
    """Tests as they stand in a sentence.

    >>> join_test_names(["delong"])
    "DeLong's test"
    """
    return " and ".join(TESTS.get(name, name) for name in names)
