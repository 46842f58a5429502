"""The verdict on a table of scores: ranking, tests, effect sizes and findings in one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._findings import Finding, PairDifference, Ranking
from fairtrial._json import format_document
from fairtrial._narrative import TOPICS, render, render_all, render_ranking
from fairtrial._text import fit_table, format_html_table, format_p_value, make_plural, wrap_item, wrap_lines
from fairtrial.significance.bayes import Posterior
from fairtrial.significance.margins import MarginDecision
from fairtrial.significance.names import get_display_name, methods
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.posthoc import PostHoc
from fairtrial.significance.scores import Better, Scores, ScoreTable, rank_values, round_noise

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ExcludedScores:
    """Data sets, learners and splits that were excluded because scores are missing."""

    datasets: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    splits: int = 0
    used_datasets: tuple[str, ...] = ()
    planned_splits: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """The result of `compare`: ranking, tests, effect sizes and reasons.

    Attributes
    ----------
    choice : str
        Identifiers of the test and of the post-hoc procedure.
    p_value : float
        p-value of the main test.
    reasons : tuple of Finding
        Findings that explain the choice of test and how the scores were read.
    caveats : tuple of Finding
        Limitations of the conclusion.
    outcome : Outcome
        Outcome of the main test.
    table : ScoreTable
        The scores that were compared: one row per data set, or per split of a single data set.
    better : {"max", "min"}
        Whether larger or smaller scores are better.
    alpha : float
        Significance level.
    control : str or None
        The learner with which all other learners are compared.
    measure : str or None
        The measure of the scores, if known.
    unit : {"data set", "split", "run"}
        What a row of `table` represents.
    posthoc : PostHoc or None
        All comparisons, if there are three learners or more.
    posterior : Posterior or None
        Result of the Bayesian test of two learners, if a region of practical equivalence was given.
    posteriors : tuple of (str, str, Posterior)
        Results of the Bayesian test of each compared pair, if a region of practical equivalence was given.
    margins : tuple of (str, str, MarginDecision)
        Decisions at the margin, if a margin was given. Each entry contains the first learner, the second learner, and the
        decision on first minus second.
    excluded : ExcludedScores
        Scores that were read but not used.
    measure_name : str
        Display name of the measure; empty if the measure is unknown.
    undecidable : Finding or None
        Reason why no result could be significant, e.g. too few data sets; None otherwise.
    scores : Scores or None
        The scores of all splits from which `table` was computed.

    Examples
    --------
    >>> from fairtrial import compare
    >>> verdict = compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7], [0.6, 0.5]], rows="datasets")
    >>> verdict.p_value, verdict.ranking.worse
    (0.03125, ('1',))
    """

    choice: str
    p_value: float
    reasons: tuple[Finding, ...]
    caveats: tuple[Finding, ...]
    outcome: Outcome
    table: ScoreTable
    better: Better = "max"
    alpha: float = 0.05
    control: str | None = None
    measure: str | None = None
    unit: str = "data set"
    posthoc: PostHoc | None = None
    posterior: Posterior | None = None
    posteriors: tuple[tuple[str, str, Posterior], ...] = ()
    margins: tuple[tuple[str, str, MarginDecision], ...] = ()
    excluded: ExcludedScores = ExcludedScores()
    measure_name: str = ""
    undecidable: Finding | None = None
    scores: Scores | None = None

    @property
    def summary(self) -> str:
        """The answer in one or two sentences: which learner is best, and which learners are significantly worse."""
        return self.summarize()

    def summarize(self, noun: str = "learner", scope: str = "") -> str:
        """Write the summary, using a given noun for the learners and a given scope.

        Parameters
        ----------
        noun : str
            "learner" or "model".
        scope : str
            Condition to which the answer applies, such as "on clean data".

        Returns
        -------
        str
        """
        if np.isnan(self.p_value) and self.posthoc is None:
            return render(Finding.of("no_variation"), noun)
        return render_ranking(replace(self.ranking, scope=scope), noun)

    def explain(self, noun: str = "learner") -> str:
        """Write the test result, the reasons for the choice of test, and all caveats.

        Parameters
        ----------
        noun : str
            "learner" or "model".

        Returns
        -------
        str
            One line per finding.
        """
        return "\n".join(render_all((*self.findings, *self.reasons), noun))

    @cached_property
    def ranking(self) -> Ranking:
        """Ranking of the learners, with the best learner and those that are significantly worse."""
        values = self._criterion_values if self._criterion else dict(zip(self.order, (1.0, 2.0), strict=True))
        pairs = tuple(self._build_pair(first, second, p_adjusted) for first, second, _, p_adjusted in self.comparisons)
        is_single = self.posthoc is None or self.unit != "data set"
        adjustment = "" if self.posthoc is None or not is_single else get_display_name(self.posthoc.method)
        return Ranking(
            self.order,
            tuple(values[name] for name in self.order),
            self._criterion,
            pairs,
            self.alpha,
            self.control,
            self.measure_name,
            (self._deciding_test,) if is_single else (),
            adjustment,
            len(self.table.datasets),
            self.unit,
            lower_is_better=self.better == "min",
            undecidable=self.undecidable,
        )

    @property
    def _deciding_test(self) -> str:
        name = get_display_name(self.outcome.test)
        return f"{name} and t interval" if self.outcome.test == "five_by_two_f" else name

    @property
    def _is_ranked(self) -> bool:
        """Whether learners are ordered by mean ranks instead of mean scores."""
        return self.unit == "data set" and self.outcome.test not in ("anova", "paired_t")

    @property
    def _criterion(self) -> str:
        """Criterion by which three or more learners are ordered; empty for two learners."""
        if self.posthoc is None:
            return ""
        return "mean rank" if self._is_ranked else f"mean {self.measure_name or 'score'}"

    @property
    def _criterion_values(self) -> dict[str, float]:
        values = self._ranks if self._is_ranked else self.table.values
        return dict(zip(self.table.learners, _round_means(values), strict=True))

    def _build_pair(self, first: str, second: str, p_adjusted: float) -> PairDifference:
        better, other = self.order_pair(first, second)
        return PairDifference(better, other, p_adjusted, self._mean_scores[better] - self._mean_scores[other])

    @cached_property
    def _mean_scores(self) -> dict[str, float]:
        return dict(zip(self.table.learners, _round_means(self.table.values), strict=True))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings on the test, effect size, posterior, margin, and limitations of the conclusion."""
        agreement = self._find_disagreement()
        meaning = [] if np.isnan(self.p_value) else [Finding.of("p_value_meaning")]
        return (
            self.test_result,
            *self._find_effect(),
            *([] if agreement is None else [agreement]),
            *([] if self.undecidable is None else [self.undecidable]),
            *self._find_posterior(),
            *self.margin_findings,
            *self.caveats,
            *self.outcome.findings,
            *meaning,
        )

    @property
    def test_result(self) -> Finding:
        """The main test: name, number of cases, statistic and p-value."""
        test = self.outcome.test
        return Finding.of(
            "test_result",
            test=get_display_name(test, self.outcome.variant),
            k=len(self.table.learners),
            n=len(self.table.datasets),
            units=self.unit if len(self.table.datasets) == 1 else make_plural(self.unit),
            symbol=(methods[test].statistic if test in methods else "") or "statistic",
            statistic=self.outcome.statistic,
            p=self.outcome.p_value,
            alpha=self.alpha,
        )

    def _find_effect(self) -> list[Finding]:
        effect = self.outcome.effect
        if effect is None or np.isnan(effect.estimate):
            return []
        values: dict[str, Any] = {"name": get_display_name(effect.name), "estimate": effect.estimate, "note": effect.note}
        limits = (effect.low, effect.high)
        if self.pair is not None:
            first, second = self.order_pair(*self.pair)
            values |= {"first": first, "second": second}
            if effect.estimate < 0:
                values["estimate"], limits = -effect.estimate, (-effect.high, -effect.low)
        kind = "effect_size" if np.isnan(limits).any() else "effect_size_interval"
        values |= {} if np.isnan(limits).any() else {"interval": (*limits, effect.level)}
        return [Finding(kind if self.pair is None else f"{kind}_of_pair", values)]

    def _find_disagreement(self) -> Finding | None:
        """Return a finding if the omnibus test and the pairwise comparisons seem to disagree."""
        if self.posthoc is None or self.unit != "data set":
            return None
        any_different = any(p <= self.alpha for *_, p in self.comparisons)
        if self.p_value <= self.alpha and not any_different and self.undecidable is None:
            return Finding.of("omnibus_without_pairs")
        return Finding.of("pairs_without_omnibus") if self.p_value > self.alpha and any_different else None

    def _find_posterior(self) -> list[Finding]:
        posterior = self.posterior
        if posterior is None:
            return []
        first, second = self.table.learners
        test = get_display_name(posterior.test)
        if np.isnan(posterior.p_first):
            return [Finding.of("posterior_undefined", test=test)]
        values = {"test": test, "first": first, "second": second, "p_first": posterior.p_first, "p_second": posterior.p_second}
        if posterior.rope <= 0:
            return [Finding("posterior", values)]
        return [Finding("posterior_with_rope", values | {"rope": posterior.rope, "p_rope": posterior.p_rope})]

    @property
    def margin_findings(self) -> tuple[Finding, ...]:
        """The decision at the margin for each learner compared with the control.

        If there is no control, learners are compared with the best one.
        """
        reference = self.order[0] if self.control is None else self.control
        return tuple(self._find_margin(*margin) for margin in self.margins if margin[1] == reference)

    def _find_margin(self, first: str, second: str, result: MarginDecision) -> Finding:
        interval = (result.low, result.high, result.level)
        names: dict[str, Any] = {"first": first, "second": second, "margin": result.margin}
        values = {**names, "measure": self.measure_name or "difference", "difference": result.difference, "interval": interval}
        units = self.unit if len(self.table.datasets) == 1 else make_plural(self.unit)
        if np.isnan(result.low):
            return Finding("margin_undefined", names)
        if np.isinf(result.low):
            sizes = {"n": result.n, "units": units, "level": result.level, "needed": result.needed}
            return Finding("margin_few_units", names | sizes)
        if result.decision != "inconclusive":
            is_other = not result.passed and result.decision != "inferior"
            return Finding("margin_not_equivalent" if is_other else "margin_decision", values | {"decision": result.decision})
        if result.needed is None:
            is_fixed = self.outcome.test == "five_by_two_f"
            return Finding("margin_inconclusive" if is_fixed else "margin_inconclusive_always", values | {"units": units})
        return Finding("margin_inconclusive_needed", values | {"needed": result.needed, "units": units})

    def list_replacements(self) -> list[tuple[str, str]]:
        """List the pairs in which the first learner could replace the second.

        Returns
        -------
        list of (str, str)
            Each pair consists of a learner and the control. If there is no control, it consists of the lower-ranked and the
            higher-ranked of two learners.
        """
        if self.control is not None:
            return [(name, self.control) for name in self.order if name != self.control]
        return [(lower, higher) for higher, lower in combinations(self.order, 2)]

    def list_margin_caveats(self) -> list[Finding]:
        """List caveats of the decisions at the margin: asymmetry, and disagreement with the tests.

        Returns
        -------
        list of Finding
        """
        asymmetric = {
            f"{first} vs {second}": caveat
            for first, second, result in self.margins
            for caveat in result.caveats
            if caveat.kind == "asymmetric_margin"
        }
        caveats = []
        if asymmetric:
            caveat = next(iter(asymmetric.values()))
            values = {"limits": caveat["limits"], "shape": caveat["shape"]}
            caveats.append(Finding("asymmetric_margins", {"pairs": tuple(asymmetric), **values}))
        winners = {
            frozenset((first, second)): self.order_pair(first, second)[0] if p <= self.alpha else None
            for first, second, _, p in self.comparisons
        }
        differing = tuple(
            f"{first} vs {second}"
            for first, second, result in self.margins
            if self._find_winner(first, second, result) != winners[frozenset((first, second))]
        )
        if differing:
            caveats.append(self._find_margin_disagreement(differing))
        return caveats

    def _find_winner(self, first: str, second: str, result: MarginDecision) -> str | None:
        """Find the learner that the confidence interval favours, or return None if it contains zero."""
        if not (result.low > 0 or result.high < 0):
            return None
        return first if (result.low > 0) == (self.better == "max") else second

    def _find_margin_disagreement(self, pairs: tuple[str, ...]) -> Finding:
        test = get_display_name(self.margins[0][2].test)
        if self.posthoc is None:
            return Finding.of("margin_disagreement_f" if self.outcome.test == "five_by_two_f" else "margin_disagreement_ties")
        values = {"test": test, "m": len(self.margins), "p_test": self.posthoc.pair_test}
        if self.posthoc.method == "none":
            return Finding("margin_disagreement_unadjusted", {"pairs": pairs, **values})
        return Finding("margin_disagreement", {"pairs": pairs, **values, "adjustment": get_display_name(self.posthoc.method)})

    def margin_frame(self) -> pd.DataFrame:
        """Build a table of the decisions at the margin.

        Returns
        -------
        pandas.DataFrame
            One row per pair, with the `first` and `second` learner, the decision on first minus second, and whether the goal
            was reached. Further columns are the margin, the difference with its confidence limits and their level, the test,
            and its one-sided p-values. The last columns are the number of units and the number of units that would suffice for
            a decision. The table is empty if no margin was given.
        """
        import pandas as pd

        rows = [{"first": first, "second": second, **result.frame().iloc[0]} for first, second, result in self.margins]
        frame = pd.DataFrame(rows)
        return frame.astype({"needed": "Int64"}) if rows else frame

    def posterior_frame(self) -> pd.DataFrame:
        """Build a table of the posterior probabilities of all pairs.

        Returns
        -------
        pandas.DataFrame
            One row per pair, with the `first` and `second` learner, three probabilities, `rope`, and the test. `rope` is the
            half-width of the region of practical equivalence. `p_first` is the probability that the first learner is better,
            `p_rope` that both are practically equivalent, and `p_second` that the second is better. The table is empty if no
            rope was given.
        """
        import pandas as pd

        names = ["first", "second", "p_first", "p_rope", "p_second", "rope", "test"]
        rows = [
            (first, second, result.p_first, result.p_rope, result.p_second, result.rope, result.test)
            for first, second, result in self.posteriors
        ]
        return pd.DataFrame(rows, columns=names)

    def explain_choice(self) -> pd.DataFrame:
        """Build a table of the reasons for the choice of test.

        Returns
        -------
        pandas.DataFrame
            Columns `decision` and `reason`.
        """
        import pandas as pd

        rows = [(TOPICS.get(reason.kind, ""), render(reason)) for reason in self.reasons]
        return pd.DataFrame(rows, columns=["decision", "reason"])

    @cached_property
    def _ranks(self) -> FloatArray:
        return self.table.compute_ranks(self.better)

    @property
    def mean_ranks(self) -> pd.Series[float]:
        """Mean rank of each learner, best first."""
        import pandas as pd

        means = pd.Series(self._ranks.mean(axis=0), index=list(self.table.learners), name="mean rank")
        return means.sort_values(kind="stable")

    def ranks(self) -> pd.DataFrame:
        """Compute the rank of each learner on each data set; 1 is best.

        Returns
        -------
        pandas.DataFrame
            One row per data set, one column per learner.
        """
        import pandas as pd

        return pd.DataFrame(self._ranks, index=list(self.table.datasets), columns=list(self.table.learners))

    def pairs(self) -> pd.DataFrame:
        """Build a table of all comparisons.

        Returns
        -------
        pandas.DataFrame
            One row per pair, with the differences between mean scores and between mean ranks (first minus second), the test,
            and the raw and adjusted p-values. `significant` states whether the adjusted p-value is at most alpha. Further
            columns are the wins, ties and losses of the first learner and its `outcome`: better, worse, no significant
            difference, or cannot be decided.
        """
        import pandas as pd

        means, ranks, find_index = self.table.values.mean(axis=0), self._ranks.mean(axis=0), self.table.learners.index
        test = self._deciding_test if self.posthoc is None else self.posthoc.pair_test
        rows = []
        for first, second, p_raw, p_adjusted in self.comparisons:
            i, j = find_index(first), find_index(second)
            wins, ties, losses = self.count_wins(i, j)
            gaps = float(means[i] - means[j]), float(ranks[i] - ranks[j])
            is_significant = bool(p_adjusted <= self.alpha)
            outcome = self._describe_outcome(first, second, p_adjusted)
            rows.append((first, second, *gaps, test, p_raw, p_adjusted, is_significant, wins, ties, losses, outcome))
        names = "first second difference rank_difference test p_raw p_adjusted significant wins ties losses outcome"
        return pd.DataFrame(rows, columns=names.split())

    def to_json(self, source: str = "scores", command: str = "compare", **facts: Any) -> str:
        """Return the verdict as a JSON document. Its schema is `result.schema.json`.

        Parameters
        ----------
        source : str
            Name of the scores file or results file. Default: "scores".
        command : str
            Command that produced the verdict. Default: "compare".
        **facts : object
            Further keys of the document.

        Returns
        -------
        str
        """
        decisions = {(first, second): result for first, second, result in self.margins}
        comparisons = []
        for line in self.pairs().to_dict("records"):
            first, second = line["first"], line["second"]
            result = decisions.get((first, second)) or decisions.get((second, first))
            comparison = {"candidate": first, "baseline": second, "measure": self.measure, "p_value": line["p_raw"]}
            keys = ("difference", "p_adjusted", "significant", "test", "outcome", "wins", "ties", "losses")
            comparison |= {key: line[key] for key in keys}
            if result is not None:
                names = (first, second) if (first, second) in decisions else (second, first)
                comparison["at_margin"] = {"candidate": names[0], "baseline": names[1], **result.to_dict()}
            comparisons.append(comparison)
        ranks = {str(name): float(rank) for name, rank in self.mean_ranks.items()}
        scores = [{"learner": name, "mean": mean, "mean_rank": ranks[name]} for name, mean in self._mean_scores.items()]
        return format_document(
            command,
            source=source,
            answer=self.summary,
            comparisons=comparisons,
            measure=self.measure,
            alpha=self.alpha,
            p_value=self.p_value,
            test=self.choice,
            unit=self.unit,
            units=len(self.table.datasets),
            scores=scores,
            notes=list(render_all(self.caveats)),
            **facts,
        )

    def _describe_outcome(self, first: str, second: str, p_adjusted: float) -> str:
        if self.undecidable is not None or np.isnan(p_adjusted):
            return "cannot be decided"
        if not p_adjusted <= self.alpha:
            return "no significant difference"
        return "better" if self.order_pair(first, second) == (first, second) else "worse"

    @property
    def comparisons(self) -> tuple[tuple[str, str, float, float], ...]:
        """First learner, second learner, raw p-value and adjusted p-value of each comparison."""
        if self.posthoc is None:
            first, second = self.table.learners
            return ((first, second, self.p_value, self.p_value),)
        return tuple(
            (comparison.first, comparison.second, comparison.p_raw, comparison.p_adjusted)
            for comparison in self.posthoc.comparisons
        )

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two learners of the main test; None if the main test compares more than two learners.

        On a single data set, this is the pair with the smallest p-value.
        """
        if self.posthoc is not None and self.unit == "data set":
            return None
        first, second, *_ = self.comparisons[find_smallest([p_raw for _, _, p_raw, _ in self.comparisons])]
        return first, second

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The learners, best first. They are ordered by the quantity that the test compares."""
        if self.posthoc is not None:
            return self.posthoc.order
        gains = self._compute_gains(0, 1)
        lead = np.nan_to_num(_compute_rank_biserial(gains)) if self.outcome.test == "wilcoxon" else gains.mean()
        return self.table.learners if lead >= 0 else self.table.learners[::-1]

    def order_pair(self, first: str, second: str) -> tuple[str, str]:
        """Order two learners, the better one first.

        Parameters
        ----------
        first, second : str
            Names of learners.

        Returns
        -------
        tuple of str
        """
        return (first, second) if self.order.index(first) <= self.order.index(second) else (second, first)

    def count_wins(self, first: int, second: int) -> tuple[int, int, int]:
        """Count wins, ties and losses of one learner against another.

        Parameters
        ----------
        first, second : int
            Column indices of `table`.

        Returns
        -------
        tuple of int
        """
        d = self._compute_gains(first, second)
        return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())

    def _compute_gains(self, first: int, second: int) -> FloatArray:
        d = round_noise(self.table.values[:, first] - self.table.values[:, second], self.table.row_scale[:, 0])
        return d if self.better == "max" else -d

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of learners without significant differences, best first."""
        if self.posthoc is not None:
            return self.posthoc.groups
        best, runner_up = self.order
        return ((best,), (runner_up,)) if self.p_value <= self.alpha else ((best, runner_up),)

    def frame(self) -> pd.DataFrame:
        """Build a table of the learners, best first.

        Returns
        -------
        pandas.DataFrame
            One row per learner, with the mean, median and standard deviation of its scores, its mean rank, and
            `effect_vs_best`. `effect_vs_best` is the matched-pairs rank-biserial correlation between the best learner and the
            learner of the row. It is 1 if the best learner wins on every data set, 0 if gains and losses balance, and NaN if
            the two learners never differ.
        """
        import pandas as pd

        values, order = self.table.values, self.mean_ranks.reindex(list(self.order))
        indices = [self.table.learners.index(name) for name in self.order]
        columns = values[:, indices]
        return pd.DataFrame(
            {
                "learner": list(order.index),
                "mean": columns.mean(axis=0),
                "median": np.median(columns, axis=0),
                "sd": columns.std(axis=0, ddof=1),
                "mean_rank": order.to_numpy(),
                "effect_vs_best": [_compute_rank_biserial(self._compute_gains(indices[0], index)) for index in indices],
            }
        )

    def __str__(self) -> str:
        answer = "\n".join([*wrap_lines(self.summary), *wrap_lines(render(self.test_result), indent="  ")])
        caveats = [line for caveat in self.caveats for line in wrap_item(render(caveat), "!")]
        return "\n".join([answer, *caveats, "", self.format_tables()])

    __repr__ = __str__

    def format_tables(self) -> str:
        """Format the tables of learners and pairs as plain text.

        Returns
        -------
        str
        """
        parts = [self.frame().to_string(index=False, float_format="{:.4g}".format, na_rep="")]
        if self.posthoc is not None:
            pairs = self.pairs()
            wins = [f"{wins}/{ties}/{losses}" for wins, ties, losses in pairs[["wins", "ties", "losses"]].to_numpy()]
            pairs = pairs.assign(**{"W/T/L": wins})
            pairs = pairs[["first", "second", "difference", "p_raw", "p_adjusted", "W/T/L", "outcome"]]
            formatters = {"difference": "{:.3g}".format, **self._choose_p_formats(pairs)}
            parts.append(_format_frame(pairs.assign(**{name: pairs[name].map(formatters[name]) for name in formatters})))
        parts += map(_format_frame, self._list_extra_frames())
        return "\n\n".join(parts)

    def _list_extra_frames(self) -> list[pd.DataFrame]:
        """List short tables of decisions at the margin and of posteriors of several pairs."""
        import pandas as pd

        frames = []
        if self.margins:
            names = ["first", "second", "decision", "difference", "low", "high", "needed"]
            frame = self.margin_frame()[names]
            numbers = {name: frame[name].map("{:.3g}".format) for name in ("difference", "low", "high")}
            frames.append(frame.assign(**numbers, needed=["" if pd.isna(n) else f"{n:,}" for n in frame["needed"]]))
        if len(self.posteriors) > 1:
            frames.append(self.posterior_frame().drop(columns="test").round(3))
        return frames

    def _repr_html_(self) -> str:
        details = "".join(f"<li>{escape(text)}</li>" for text in render_all((*self.findings, *self.reasons)))
        tables = format_html_table(self.frame())
        if self.posthoc is not None:
            pairs = self.pairs().drop(columns="test")
            tables += format_html_table(pairs, formatters=self._choose_p_formats(pairs))
        tables += "".join(format_html_table(frame) for frame in self._list_extra_frames())
        answer = f"<p><b>{escape(self.summary)}</b></p><p>{escape(render(self.test_result))}</p>"
        return f"{answer}{tables}<details><summary>Reasons and caveats</summary><ul>{details}</ul></details>"

    def _choose_p_formats(self, pairs: pd.DataFrame) -> dict[Any, Callable[[Any], str]]:
        """Choose formats that show whether p-values are above alpha, and that never show zero."""
        names = [name for name in ("p_raw", "p_adjusted") if name in pairs]

        def format_p(p: float) -> str:
            return "" if np.isnan(p) else format_p_value(p, self.alpha).removeprefix("p ").removeprefix("= ")

        return dict.fromkeys(names, format_p)


def _format_frame(frame: pd.DataFrame) -> str:
    """Format a table of pairs in at most 80 columns. Names and outcomes are aligned left, numbers right."""
    cells = frame.astype(object).where(frame.notna(), "").map(str)
    right = [i for i, name in enumerate(frame.columns) if name not in ("first", "second", "W/T/L", "outcome", "decision")]
    rows = [list(map(str, frame.columns)), *cells.to_numpy().tolist()]
    return "\n".join(line for lines in fit_table(rows, right=right) for line in lines)


def _round_means(values: FloatArray) -> list[float]:
    """Compute the mean of each column, rounded to 12 significant digits to remove rounding errors."""
    return [float(f"{mean:.12g}") for mean in values.mean(axis=0).tolist()]


def _compute_rank_biserial(gains: FloatArray) -> float:
    gains = gains[gains != 0]
    if not len(gains):
        return float("nan")
    ranks = rank_values(np.abs(gains))
    return float((np.sign(gains) * ranks).sum() / ranks.sum())


def find_smallest(p_values: Sequence[float]) -> int:
    """Find the index of the smallest p-value (the first if several are equal). Undefined p-values come last.

    >>> find_smallest([float("nan"), 0.4, 0.2])
    2
    """
    return int(np.argmin(np.nan_to_num(np.asarray(p_values, dtype=np.float64), nan=np.inf)))


def list_pairs(learners: tuple[str, ...], control: str | None) -> list[tuple[int, int]]:
    """List the pairs of learner indices to compare: all pairs, or the control with each other learner."""
    if control is None:
        return list(combinations(range(len(learners)), 2))
    control_index = learners.index(control)
    return [(control_index, index) for index in range(len(learners)) if index != control_index]
