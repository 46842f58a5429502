"""Chi's rules as the papers tell them, row by row and label by label."""

from itertools import product


def triangle(value, low, high, labels, label):
    centre = low + label * (high - low) / (labels - 1)
    width = (high - low) / (labels - 1)
    height = 1 - abs(value - centre) / width
    return height if height > 1e-12 else 0.0


def degree(antecedent, row, ranges, labels):
    result = 1.0
    for label, value, (low, high) in zip(antecedent, row, ranges, strict=True):
        result *= triangle(min(max(value, low), high), low, high, labels, label)
    return result


def rules_of(rows, classes, labels):
    """Antecedent -> (class, weight)."""
    ranges = [(min(column), max(column)) for column in zip(*rows, strict=True)]
    antecedents = set()
    for row in rows:
        best = [
            max(range(labels), key=lambda label, v=value, r=limits: (round(triangle(v, *r, labels, label), 12), -label))
            for value, limits in zip(row, ranges, strict=True)
        ]
        antecedents.add(tuple(best))
    rules = {}
    for antecedent, label in product(antecedents, sorted(set(classes))):
        degrees = [degree(antecedent, row, ranges, labels) for row in rows]
        own = sum(d for d, c in zip(degrees, classes, strict=True) if c == label)
        weight = (own - (sum(degrees) - own)) / sum(degrees)
        if weight > 0 and weight > rules.get(antecedent, (None, 0))[1]:
            rules[antecedent] = (label, weight)
    return rules, ranges


def winner(rules, ranges, labels, row):
    """The class of the rule with the largest degree times weight, None if none fires."""
    best = max(rules.items(), key=lambda rule: degree(rule[0], row, ranges, labels) * rule[1][1], default=None)
    if best is None or degree(best[0], row, ranges, labels) * best[1][1] == 0:
        return None
    return best[1][0]
