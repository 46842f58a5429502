"""What the paper says of single data sets, as rules on the differences of its two learners there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fairtrial.reproduce.ela.paired import Line
from fairtrial.reproduce.interval import all_hold

Holds = Callable[[Line], bool | None]
_MOST = 4  # numbers of a line that a rule asks for
LIMIT = 0.02  # the paper has no number for 'remarkable' and 'very low': one limit, so that no loss can be both


@dataclass(frozen=True)
class Statement:
    """What is said, of which data sets, and the rule; `limited`: the rule has a limit that is ours."""

    text: str
    names: tuple[str, ...]
    rule: Holds
    limited: bool = False

    def verdicts(self, lines: Mapping[str, Line]) -> dict[str, bool | None]:
        """Whether it holds on each of its data sets that has a line; to refuse it, all that it is judged by counts together."""
        return {name: self._verdict(lines[name]) for name in self.names if name in lines}

    def _verdict(self, line: Line) -> bool | None:
        held, wide = self.rule(line), {what: each.widened(_MOST * len(self.names)) for what, each in line.items()}
        return None if held is False and self.rule(wide) is not False else held


def _signs(**wanted: int) -> Holds:
    """A rule: each of these numbers (C4.5 less SVM) has this sign."""
    return lambda line: all_hold(_has_sign(line, name, sign) for name, sign in wanted.items())


def _has_sign(line: Line, name: str, sign: int) -> bool | None:
    found = line[name].sign
    return None if found == 0 else found == sign


def _same(line: Line) -> bool | None:
    """ELA and RLA prefer the same learner."""
    return _has_sign(line, "ela", line["rla"].sign) if line["rla"].sign else None


def _one_gains(line: Line) -> bool | None:
    """C4.5 or SVM has a negative loss."""
    gains = [_has_sign(line, name, -1) for name in ("rla_c45", "rla_svm")]
    return True if True in gains else None if None in gains else False


def _both_lose_more(line: Line) -> bool | None:
    return all_hold(line[name].less(LIMIT).above for name in ("rla_c45", "rla_svm"))


def _both_lose_less(line: Line) -> bool | None:
    over = [line[name].less(LIMIT).above for name in ("rla_c45", "rla_svm")]
    return all_hold(None if each is None else not each for each in over)


def _below_half(line: Line) -> bool | None:
    above = line["acc0_svm"].less(50).above
    return None if above is None else not above


_MACHINE_BY_ELA = _signs(ela=1, rla=-1)
_FIRST = "autos wine banana dermatology heart phoneme twonorm"


def _of(text: str, names: str, rule: Holds, *, limited: bool = False) -> Statement:
    return Statement(text, tuple(names.split()), rule, limited)


STATEMENTS = (
    _of("SVM is better without and with noise", _FIRST, _signs(acc0=-1, acc10=-1)),
    _of("ELA and RLA prefer the same one", _FIRST, _same),
    _of(f"Both lose remarkably (here: more than {LIMIT:.0%})".replace("%", " %"), "autos wine", _both_lose_more, limited=True),
    _of(
        f"Both lose very little (here: less than {LIMIT:.0%})".replace("%", " %"),
        "banana dermatology heart phoneme twonorm",
        _both_lose_less,
        limited=True,
    ),
    _of(
        "C4.5 is better without and with noise, and loses less",
        "car iris pima zoo monk-2",
        _signs(acc0=1, acc10=1, rla=-1),
    ),
    _of(
        "C4.5 gains by noise, SVM loses, and both measures prefer C4.5",
        "cleveland ecoli hayes-roth",
        _signs(rla_c45=-1, rla_svm=1, rla=-1, ela=-1),
    ),
    _of("SVM is better without noise and worse with it", "ionosphere segment spambase wdbc", _signs(acc0=-1, acc10=1)),
    _of(
        "One or both gain by noise; ELA prefers SVM, RLA C4.5",
        "balance sonar flare lymphography",
        lambda line: all_hold([_one_gains(line), _MACHINE_BY_ELA(line)]),
    ),
    _of("Both gain by noise", "flare lymphography", _signs(rla_c45=-1, rla_svm=-1)),
    _of(
        "SVM is better without noise and loses more; ELA prefers SVM, RLA C4.5",
        "vehicle ring newthyroid vowel magic yeast glass",
        _signs(acc0=-1, ela=1, rla=-1),
    ),
    _of(
        "C4.5 is better without noise and loses more; ELA prefers C4.5, RLA SVM",
        "german contraceptive",
        _signs(acc0=1, ela=-1, rla=1),
    ),
    _of("SVM stays below 50 % without noise", "contraceptive", _below_half),
)


def contradicted(lines: Mapping[str, Line], *, limited: bool = False) -> dict[str, list[str]]:
    """Statements and the data sets on which these lines contradict them; those with a limit of ours on demand alone."""
    found = {
        each.text: [name for name, verdict in each.verdicts(lines).items() if verdict is False]
        for each in STATEMENTS
        if each.limited is limited
    }
    return {text: names for text, names in found.items() if names}
