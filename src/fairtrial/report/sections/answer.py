"""The answer: who is ahead, how sure that is, by which test."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import get_measure
from fairtrial.predictions.narrative import explain_disagreement
from fairtrial.report.judgement import (
    ALPHA,
    LEVEL,
    MEASURES_KEY,
    PAIRS_KEY,
    build_measures_frame,
    build_pairs_frame,
    get_direction,
    get_fact,
    join_test_names,
    list_datasets,
    order_pairs_best_first,
    rank_judged_models,
)
from fairtrial.report.means import average_by_dataset, average_over_datasets, compute_scores, format_means_key
from fairtrial.report.names import (
    concat_sentences,
    find_best_names,
    format_condition_phrase,
    format_measure_name,
    get_verdict_measure_name,
    join_names,
    join_sentences,
)
from fairtrial.report.section import ReportTable, Section, Sentence, build_sentence, format_number, format_p_value, section
from fairtrial.report.sections.verdict import VerdictContext
from fairtrial.study.results.selection import CLEAN, format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

LEADS = "answer-leads"
_STATUSES = {"ok": "succeeded", "missing": "not run"}
_MAX_NAMED_MODELS = 4


@section("answer", title="The answer", order=10, serves="study")
def build_section(results: Results) -> Section:
    """Three sentences, and one more where trials failed or have not run. Their numbers are in the sections below."""
    measure_text = format_measure_name(get_verdict_measure_name(results))
    main, *others = VerdictContext.list_for_study(results)
    sentences = [
        _build_lead_sentence(results, main, measure_text),
        _build_certainty_sentence(main),
        _describe_other_conditions(main, others, measure_text),
    ]
    trials = build_trials_frame(results)
    tables: tuple[ReportTable, ...] = ()
    if len(trials) > 2 or trials.index[0] != "succeeded":
        sentences.append(_count_unfinished_trials(trials))
        tables = (ReportTable("answer-trials", "How the trials went", trials),)
    return Section("answer", "The answer", tuple(sentence for sentence in sentences if sentence is not None), (), tables)


def build_trials_frame(results: Results) -> pd.DataFrame:
    """How many trials ended in which way, and all."""
    import pandas as pd

    counts = results.trials()["status"].astype(str).value_counts(sort=False)
    lines = {_STATUSES.get(str(name), str(name)): int(number) for name, number in counts.items() if number}
    first = {name: lines[name] for name in ("succeeded",) if name in lines}
    lines = first | lines | {"all": int(counts.sum())}
    return pd.DataFrame({"trials": list(lines.values())}, index=pd.Index(lines, name="status"))


def _build_lead_sentence(results: Results, main: VerdictContext, measure_text: str) -> Sentence | None:
    if main.verdict is None:
        return _describe_without_verdict(results, main, measure_text)
    return join_sentences(
        [
            main.describe_basis(),
            main.describe_finding(measure_text),
            describe_best_learners(main, measure_text),
            _build_size_sentence(main),
        ]
    )


def _build_size_sentence(main: VerdictContext) -> Sentence | None:
    """The effect, where it is of the learner that the answer speaks of and one that it is told from, or of the only two."""
    verdict = main.verdict
    assert verdict is not None
    if verdict.pair is None:
        return None
    head = verdict.order[0] if verdict.control is None else verdict.control
    return main.describe_effect_size() if verdict.posthoc is None or head in verdict.pair else None


def _describe_without_verdict(results: Results, main: VerdictContext, measure_text: str) -> Sentence | None:
    """What can be said without a verdict: the mean of the only learner, or the best of several, which proves nothing."""
    measure, where = get_verdict_measure_name(results), format_condition_phrase(main.condition)
    reason = build_sentence("{reason}", reason=main.reason)
    if measure not in results.measures:
        return reason
    frame = _build_means_frame(results, measure)
    in_condition = frame["condition"] == format_condition(main.condition)
    lines = frame[in_condition & np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    if lines.empty:
        return reason
    best = find_best_names(lines["mean"].set_axis(lines.index.astype(str)), get_measure(measure).facts.direction)
    mean_sentence = _describe_mean(frame, format_means_key(results, measure), int(best[0]), measure_text, where)
    among = [] if len(results.archive.learners) == 1 else [build_sentence("Of those with a mean, ")]
    return concat_sentences([reason, Sentence(" "), *among, mean_sentence])


def _describe_mean(frame: pd.DataFrame, key: str, line: int, measure_text: str, where: str) -> Sentence:
    parts: dict[str, Any] = {"learner": frame.loc[line, "learner"], "measure": measure_text, "where": where}
    parts["mean"] = format_number(frame, key, line, "mean")
    template = "{learner} has a mean {measure} of {mean} {where}"
    if not frame.loc[line, ["low", "high"]].isna().any():
        template += ", with an interval from {low} to {high}"
        parts |= {"low": format_number(frame, key, line, "low"), "high": format_number(frame, key, line, "high")}
    return build_sentence(template + ".", **parts)


def _build_certainty_sentence(main: VerdictContext) -> Sentence | None:
    if main.verdict is None:
        return None
    return join_sentences(
        [main.describe_test_result(), *(main.describe_posterior() if main.verdict.posterior is not None else ())]
    )


def _describe_other_conditions(main: VerdictContext, others: Sequence[VerdictContext], measure_text: str) -> Sentence | None:
    """Who leads under each other condition at its highest level."""
    if main.verdict is None:
        others = [context for context in others if context.verdict is not None]
    if not others:
        if main.verdict is None:
            return None
        return build_sentence(
            "No other condition was tried: how {measure} holds under noise or drift is not known.", measure=measure_text
        )
    highest: dict[str, VerdictContext] = {}
    for context in others:
        current = highest.get(context.condition.name)
        if current is None or isnan(current.condition.level) or context.condition.level > current.condition.level:
            highest[context.condition.name] = context
    return join_sentences([_describe_condition_verdict(main, context, measure_text) for context in highest.values()])


def _describe_condition_verdict(main: VerdictContext, context: VerdictContext, measure_text: str) -> Sentence:
    where, verdict = _to_sentence_case(format_condition_phrase(context.condition)), context.verdict
    if verdict is None:
        return build_sentence("{where} there is no verdict on {measure}.", where=where, measure=measure_text)
    any_significant = any(p <= verdict.alpha for *_, p in verdict.comparisons)
    lead = verdict.order[0]
    why, lead_parts = describe_lead(context, measure_text)
    parts: dict[str, Any] = {"where": where, "lead": lead, **lead_parts}
    still = ""
    if main.verdict is not None and main.condition.name == CLEAN:
        still = "still " if main.verdict.order[0] == lead else "now "
    template = f"{{where}}, {{lead}} {still}comes first{why}"
    template += _format_runners_up(verdict, parts) if any_significant else ", but no two learners can be told apart"
    only = "" if context.basis is None or not context.basis.left_out else ", with data sets left out (see the verdict)"
    return build_sentence(template + only + ".", **parts)


def _to_sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _format_runners_up(verdict: Verdict, parts: dict[str, Any]) -> str:
    """Whom the leader is ahead of."""
    lead = verdict.order[0]
    pairs = [verdict.order_pair(first, second) for first, second, _, p in verdict.comparisons if p <= verdict.alpha]
    behind = [loser for best, loser in pairs if best == lead]
    if not behind:
        return ", but cannot be told from those next to it" if verdict.control is None else ""
    parts["behind"] = join_names(behind)
    return ", ahead of {behind}"


def _count_unfinished_trials(trials: pd.DataFrame) -> Sentence:
    """How many trials failed or have not run."""
    clauses, parts = [], {"all": format_number(trials, "answer-trials", "all", "trials", "{:,}")}
    for index, name in enumerate(status for status in trials.index if status not in ("succeeded", "all")):
        key = "abcdefgh"[index]
        parts[key] = format_number(trials, "answer-trials", name, "trials", "{:,}")
        verb = "has " if trials.loc[name, "trials"] == 1 else "have "
        clauses.append(f"{{{key}}} " + (verb + "not run" if name == "not run" else f"failed ({name})"))
    rest = ": what is said rests on the others." if "succeeded" in trials.index else "."
    return build_sentence("Of {all} trials " + ", ".join(clauses) + rest, **parts)


def _build_means_frame(results: Results, measure: str) -> pd.DataFrame:
    """The frame of the table of a measure's means in the section of scores."""
    scores, _ = compute_scores(results, [measure])
    means = average_over_datasets(results, average_by_dataset(results, scores))
    return means.drop(columns="measure").reset_index(drop=True)


def describe_best_learners(context: VerdictContext, measure_text: str) -> Sentence:
    """The best mean and the best mean rank, of the table of the verdict: said so where data sets or splits are left out."""
    verdict = context.verdict
    assert verdict is not None
    ranked, scored, parts = _find_leaders(context, measure_text)
    have = "has" if len(scored) == 1 else "have"
    prefix = "" if context.basis is None or context.basis.is_complete else f"Over the {verdict.unit}s that are left, "
    if ranked == scored:
        template = f"{prefix}{{scored}} {have} the best mean {{measure}}, {{mean}}, and the best mean rank, {{rank}}."
        return build_sentence(template, **{name: part for name, part in parts.items() if name != "ranked"})
    return build_sentence(
        f"{prefix}{{scored}} {have} the best mean {{measure}}, {{mean}}, but {{ranked}} the best mean rank, {{rank}}.", **parts
    )


def describe_lead(context: VerdictContext, measure_text: str) -> tuple[str, dict[str, Any]]:
    """By what the first of the verdict's order comes first: words, and what stands in them."""
    verdict = context.verdict
    assert verdict is not None
    ranked, scored, parts = _find_leaders(context, measure_text)
    lead = verdict.order[0]
    clauses = [
        text
        for names, text in ((ranked, "the best mean rank, {rank}"), (scored, "the best mean {measure}, {mean}"))
        if lead in names
    ]
    template = f", with {', and '.join(clauses)}" if clauses else ", by the signed ranks of the differences"
    return template, {name: part for name, part in parts.items() if "{" + name + "}" in template}


def _find_leaders(context: VerdictContext, measure_text: str) -> tuple[list[str], list[str], dict[str, Any]]:
    verdict = context.verdict
    assert verdict is not None
    frame, key = context.build_learners(), f"{context.key}-learners"
    ranked, scored = find_best_names(frame["mean rank"], "min"), find_best_names(frame["mean"], verdict.better)
    parts: dict[str, Any] = {"measure": measure_text, "ranked": join_names(ranked), "scored": join_names(scored)}
    parts["rank"] = format_number(frame, key, ranked[0], "mean rank", "{:.2f}")
    parts["mean"] = format_number(frame, key, scored[0], "mean", "{:.3f}")
    return ranked, scored, parts


@section("answer", title="The answer", order=10, serves="judgement")
def build_judgement_section(judgement: Judgement) -> Section:
    """Of one data set what its rows say; of several how the models stand over them; and the verdict, where there is one."""
    datasets = list_datasets(judgement)
    sentences: list[Sentence | None]
    tables: tuple[ReportTable, ...] = ()
    if len(datasets) == 1:
        sentences = list(_describe_dataset_answer(judgement, datasets[0]))
        sentences += [] if judgement.verdict is None else [_describe_overall_verdict(judgement)]
    else:
        sentences = [
            _describe_overall_verdict(judgement),
            *describe_leads(judgement),
            *_describe_below_chance_models(judgement, datasets),
        ]
        tables = (build_leads_table(judgement),)
    return Section("answer", "The answer", tuple(sentence for sentence in sentences if sentence is not None), (), tables)


def _describe_dataset_answer(judgement: Judgement, dataset: str) -> tuple[Sentence, ...]:
    """The best model of a data set, whom it is told apart from, and by which test."""
    first = _describe_best(judgement, dataset)
    if first is None:
        return (_explain_no_best(judgement, dataset),)
    order = rank_judged_models(judgement, dataset)
    if len(order) == 1:
        return (first, *_describe_chance(judgement, dataset), *_describe_below_chance_models(judgement, [dataset]))
    best_models = _find_best_models(judgement, dataset, order)
    return (
        first,
        *_describe_differences(judgement, dataset, best_models),
        *_describe_below_chance_models(judgement, [dataset]),
    )


def _explain_no_best(judgement: Judgement, dataset: str) -> Sentence:
    """Why there is no best model: no value at all, or none that is finite."""
    scores = judgement.scores
    estimates = scores[(scores["dataset"] == dataset) & (scores["measure"] == judgement.main)]["estimate"]
    problem = "is infinite for every model that has a value" if np.isinf(estimates).any() else "has no value"
    template = f"{{measure}} {problem} here: there is nothing to compare by."
    return build_sentence(template, measure=format_measure_name(judgement.main))


def _find_best_models(judgement: Judgement, dataset: str, order: list[str]) -> list[str]:
    """The best model, and those of the same value."""
    values = build_measures_frame(judgement)["estimate"]
    best = values[_find_score_row(judgement, dataset, order[0])]
    return [name for name in order if values[_find_score_row(judgement, dataset, name)] == best]


def _find_score_row(judgement: Judgement, dataset: str, model: str) -> int:
    scores = judgement.scores.reset_index(drop=True)
    is_match = (scores["dataset"] == dataset) & (scores["model"] == model) & (scores["measure"] == judgement.main)
    return int(scores.index[is_match][0])


def _describe_best(judgement: Judgement, dataset: str) -> Sentence | None:
    frame, order = build_measures_frame(judgement), rank_judged_models(judgement, dataset)
    line = _find_score_row(judgement, dataset, order[0])
    values = frame["estimate"]
    if not np.isfinite(values[line]):
        return None
    best_models = _find_best_models(judgement, dataset, order)
    parts: dict[str, Any] = {"model": join_names(best_models), "measure": format_measure_name(judgement.main)}
    parts["estimate"] = format_number(frame, MEASURES_KEY, line, "estimate", "{:.4g}")
    verb = "has" if len(best_models) == 1 else "have"
    template = f"{{model}} {verb} the best {{measure}}, {{estimate}}" if len(order) > 1 else "{model} has {measure} {estimate}"
    if len(best_models) == 1 and np.isfinite(frame.loc[line, ["low", "high"]].to_numpy(dtype=np.float64)).all():
        template += ", with a {level} % interval from {low} to {high}"
        parts |= {end: format_number(frame, MEASURES_KEY, line, end, "{:.4g}") for end in ("low", "high")}
        parts["level"] = get_fact(judgement, LEVEL)
    return build_sentence(template + ".", **parts)


def _describe_chance(judgement: Judgement, dataset: str) -> tuple[Sentence, ...]:
    """Whether the only model is better than guessing, where the measure knows what guessing gives."""
    frame = build_measures_frame(judgement)
    line = _find_score_row(judgement, dataset, rank_judged_models(judgement, dataset)[0])
    low, high, chance = (float(frame[name][line]) for name in ("low", "high", "chance"))
    if not np.isfinite([low, high, chance]).all():
        return ()
    higher_is_better = get_direction(judgement.main) == "max"
    is_above, is_below = (low > chance, high < chance) if higher_is_better else (high < chance, low > chance)
    relation = "better" if is_above else "worse" if is_below else "not surely better"
    return (
        build_sentence(
            f"That is {relation} than guessing, which gives {{chance}}.",
            chance=format_number(frame, MEASURES_KEY, line, "chance", "{:g}"),
        ),
    )


def _describe_below_chance_models(judgement: Judgement, datasets: list[str]) -> tuple[Sentence, ...]:
    """Models whose AUC lies below that of guessing, and what that may mean."""
    below_chance = judgement.positives.select_below_chance(judgement.scores)
    below_chance = below_chance[below_chance["dataset"].isin(datasets)]
    if below_chance.empty:
        return ()
    names = list(dict.fromkeys(map(str, below_chance["model"])))
    parts = {"models": join_names(names), "be": "is" if len(names) == 1 else "are", "remedy": judgement.positives.remedy}
    where = ""
    if len(datasets) > 1:
        where, parts["sets"] = " on {sets}", join_names(list(dict.fromkeys(map(str, below_chance["dataset"]))))
    template = (
        f"By auc {{models}} {{be}} worse than guessing{where}: perhaps the scores are those of the other class; {{remedy}}."
    )
    return (build_sentence(template, **parts),)


def _describe_differences(judgement: Judgement, dataset: str, best_models: list[str]) -> tuple[Sentence, ...]:
    """Whom the best model is told apart from; models that predict different rows may change places on the common ones."""
    pairs = order_pairs_best_first(judgement)
    best, subject = best_models[0], "It" if len(best_models) == 1 else "{best}"
    comparisons = pairs[
        (pairs["dataset"] == dataset) & (pairs["first"] == best) & pairs["primary"] & ~pairs["second"].isin(best_models)
    ]
    if comparisons.empty:
        are_all_best = len(best_models) == len(rank_judged_models(judgement, dataset))
        return (
            ()
            if are_all_best
            else (build_sentence("No test tells whether {who} ahead of the others.", who=_format_subject_verb(best_models)),)
        )
    sign = 1 if get_direction(judgement.main) == "max" else -1
    is_significant = comparisons["p_adjusted"] <= judgement.alpha
    is_better = sign * comparisons["difference"] > 0
    kinds = (
        (f"{subject} is ahead of ", is_significant & is_better),
        (f"{subject} cannot be told apart from ", ~is_significant),
    )
    frame = build_pairs_frame(judgement)
    sentences = [
        _format_comparisons(frame, list(comparisons.index[mask]), prefix, best, judgement.alpha)
        for prefix, mask in kinds
        if mask.any()
    ]
    is_behind = is_significant & ~is_better
    if is_behind.any():
        prefix = f"On the rows that both predict {'it' if subject == 'It' else subject} is behind "
        sentences.append(_format_comparisons(frame, list(comparisons.index[is_behind]), prefix, best, judgement.alpha))
    tests = list(dict.fromkeys(map(str, comparisons["test"])))
    parts = {"tests": join_test_names(tests), "alpha": get_fact(judgement, ALPHA)}
    many = int((pairs["primary"] & (pairs["dataset"] == dataset)).sum()) > 1
    adjustment = (
        ", p adjusted for all pairs of the data set by Holm's procedure; intervals are of each pair alone" if many else ""
    )
    return (
        *sentences,
        build_sentence(f"This is by {{tests}} at alpha {{alpha}}{adjustment}.", **parts),
        *_explain_disagreements(comparisons, judgement.alpha),
    )


def _format_subject_verb(best_models: list[str]) -> str:
    return "it is" if len(best_models) == 1 else "they are"


def _explain_disagreements(comparisons: pd.DataFrame, alpha: float) -> tuple[Sentence, ...]:
    """Why an interval without zero does not tell apart."""
    causes: dict[str, list[str]] = {}
    for line in comparisons.to_dict("records"):
        causes.setdefault(explain_disagreement(line, alpha), []).append(str(line["second"]))
    return tuple(
        build_sentence(
            "The interval of the difference from {models} excludes zero, but {why}.", models=join_names(names), why=why
        )
        for why, names in causes.items()
        if why
    )


def _format_comparisons(frame: pd.DataFrame, lines: list[int], prefix: str, best: str, alpha: float) -> Sentence:
    """The models of these lines of the table of tests; of a few the difference and p."""
    best_param = {"best": best} if "{best}" in prefix else {}
    if len(lines) > _MAX_NAMED_MODELS:
        return build_sentence(
            prefix + "{models}.", models=join_names([str(frame.loc[line, "second"]) for line in lines]), **best_param
        )
    pieces = [build_sentence(prefix, **best_param)]
    for index, line in enumerate(lines):
        if index:
            pieces.append(Sentence(" and " if index == len(lines) - 1 else ", "))
        pieces.append(_format_pair_comparison(frame, line, alpha))
    return concat_sentences([*pieces, Sentence(".")])


def _format_pair_comparison(frame: pd.DataFrame, line: int, alpha: float) -> Sentence:
    parts: dict[str, Any] = {"model": frame.loc[line, "second"]}
    parts["difference"] = format_number(frame, PAIRS_KEY, line, "difference", "{:.4g}")
    template = "{model} (difference {difference}"
    if np.isfinite(frame.loc[line, ["low", "high"]].to_numpy(dtype=np.float64)).all():
        template += ", interval from {low} to {high}"
        parts |= {end: format_number(frame, PAIRS_KEY, line, end, "{:.4g}") for end in ("low", "high")}
    if np.isfinite(frame["adjusted p"][line]):
        equal = "at most " if frame["p at minimum"][line] else "= "
        parts["p"] = format_p_value(frame, PAIRS_KEY, line, "adjusted p", alpha, equal=equal)
        return build_sentence(template + ", p {p})", **parts)
    return build_sentence(template + ", p is undefined)", **parts)


def _describe_overall_verdict(judgement: Judgement) -> Sentence | None:
    """The verdict over data sets or splits."""
    if judgement.verdict is None:
        return build_sentence("There is no verdict over the data sets.")
    context = VerdictContext.from_scores(judgement.verdict)
    return concat_sentences(
        [context.describe_finding(format_measure_name(judgement.main)), Sentence(" "), context.describe_test_result()]
    )


def build_leads_table(judgement: Judgement) -> ReportTable:
    """The table of `count_leads`."""
    note = (
        f"Best: the best {format_measure_name(judgement.main)} on the data set, alone. Significantly better than all others: "
        "told apart from each of them by the test that decides."
    )
    return ReportTable(LEADS, "On how many data sets each model is ahead", count_leads(judgement), note=note)


def describe_leads(judgement: Judgement) -> list[Sentence | None]:
    """Who is first on the most data sets, and who is ahead there by more than chance."""
    leads = count_leads(judgement)
    return [_describe_most_first(judgement, leads), _describe_significant_leads(leads)]


def count_leads(judgement: Judgement) -> pd.DataFrame:
    """On how many data sets a model has the best value alone, and on how many it is ahead of all others."""
    import pandas as pd

    ordered_pairs = order_pairs_best_first(judgement)
    counts: dict[str, list[int]] = {}
    for dataset in list_datasets(judgement):
        scores = judgement.scores
        estimates = scores[(scores["dataset"] == dataset) & (scores["measure"] == judgement.main)].set_index("model")[
            "estimate"
        ]
        for model in estimates.index:
            counts.setdefault(str(model), [0, 0, 0])[0] += 1
        order = rank_judged_models(judgement, dataset)
        if np.isfinite(estimates[order[0]]) and int((estimates == estimates[order[0]]).sum()) == 1:
            counts[order[0]][1] += 1
            pairs = ordered_pairs[
                (ordered_pairs["dataset"] == dataset) & (ordered_pairs["first"] == order[0]) & ordered_pairs["primary"]
            ]
            sign = 1 if get_direction(judgement.main) == "max" else -1
            won = (pairs["p_adjusted"] <= judgement.alpha) & (sign * pairs["difference"] > 0)
            counts[order[0]][2] += bool(len(pairs)) and len(pairs) == len(order) - 1 and bool(won.all())
    names = ["data sets", "best", "significantly better than all others"]
    frame = pd.DataFrame(counts.values(), index=pd.Index(counts, name="model"), columns=names)
    return frame.sort_values(["best", "significantly better than all others"], ascending=False, kind="stable")


def _describe_most_first(judgement: Judgement, leads: pd.DataFrame) -> Sentence:
    most = int(leads["best"].max())
    if not most:
        return build_sentence(
            "No model alone has the best {measure} on any data set.", measure=format_measure_name(judgement.main)
        )
    names = [str(name) for name in leads.index[leads["best"] == most]]
    parts: dict[str, Any] = {"models": join_names(names), "measure": format_measure_name(judgement.main)}
    parts["first"] = format_number(leads, LEADS, names[0], "best", "{:,}")
    parts["all"] = get_fact(judgement, "data sets", "{:,}")
    verb = "has" if len(names) == 1 else "each have"
    return build_sentence(f"{{models}} {verb} the best {{measure}} alone on {{first}} of {{all}} data sets.", **parts)


def _describe_significant_leads(leads: pd.DataFrame) -> Sentence | None:
    """On how many data sets the lead is more than chance, row by row."""
    if len(leads) < 2:
        return None
    counts = leads["significantly better than all others"]
    if not counts.max():
        return build_sentence("By the rows of a data set alone, no model is ahead of all others on any.")
    names = [str(name) for name in leads.index[counts == counts.max()]]
    number = format_number(leads, LEADS, names[0], "significantly better than all others", "{:,}")
    verb = "is" if len(names) == 1 else "are each"
    template = f"By the rows of a data set alone, {{models}} {verb} ahead of all others on {{number}}."
    return build_sentence(template, models=join_names(names), number=number)


@section("answer", title="The answer", order=10, serves="comparison")
def build_comparison_section(verdict: Verdict) -> Section:
    """On what it rests and who is ahead; then how sure that is, and how large."""
    context = VerdictContext.from_scores(verdict)
    who = [
        context.describe_basis(),
        context.describe_finding(format_measure_name(verdict.measure) if verdict.measure else "the scores"),
        describe_best_learners(context, format_measure_name(verdict.measure or "score")),
    ]
    sure = [context.describe_test_result(), context.describe_effect_size(), *context.describe_posterior()]
    return Section("answer", "The answer", (join_sentences(who), join_sentences(sure)))
