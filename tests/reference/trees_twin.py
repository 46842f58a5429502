"""C4.5 written plainly after Quinlan and J48: recursive, over lists of (row, weight), for comparison with the kernels."""

import math
from collections import defaultdict

from scipy.stats import norm

SMALL = 1e-6


def info(weights):
    """Bits times weight of a distribution."""
    total = sum(weights)
    return sum(-w * math.log2(w / total) for w in weights if w > SMALL)


class Twin:
    """A tree of dictionaries: {column, cut, children, counts}."""

    def __init__(self, X, nominal, y, weight, classes, *, confidence=0.25, least=2, prune=True, collapse=True, raising=True):
        self.X, self.nominal, self.y, self.classes = X, nominal, y, classes
        self.confidence, self.least, self.raising = confidence, least, raising
        self.many = [levels > 0 and levels >= 0.3 * len(y) - SMALL for levels in nominal]
        cases = [(i, float(w)) for i, w in enumerate(weight)]
        self.root = self.grow(cases)
        if collapse:
            self.collapse(self.root)
        if prune:
            self.prune(self.root, cases)

    def counts(self, cases):
        found = [0.0] * self.classes
        for row, w in cases:
            found[self.y[row]] += w
        return found

    def branch(self, column, cut, row):
        value = self.X[row][column]
        if math.isnan(value):
            return None
        return int(value) if self.nominal[column] else int(value - cut >= SMALL)

    def parts(self, column, cut, cases, k):
        """The cases of each branch; those without a value in all, by share."""
        bags, missing = [[] for _ in range(k)], []
        for row, w in cases:
            b = self.branch(column, cut, row)
            (missing if b is None else bags[b]).append((row, w))
        mass = [sum(w for _, w in bag) for bag in bags]
        known = sum(mass)
        share = [m / known if known > SMALL else 1 / k for m in mass]
        return [bag + [(row, w * s) for row, w in missing if s > SMALL] for bag, s in zip(bags, share, strict=True)]

    def measure(self, bags, total):
        """Gain and gain ratio of bags of known cases."""
        tables = [self.counts(bag) for bag in bags]
        sizes = [sum(table) for table in tables]
        known = sum(sizes)
        gain = info([sum(column) for column in zip(*tables, strict=True)]) - sum(info(table) for table in tables)
        gain = gain * known / total
        gain = 0.0 if abs(gain) < SMALL else gain / known
        split = info([*sizes, total - known]) / total
        return gain, sizes, split

    def candidate(self, column, cases, total):
        known = [(row, w) for row, w in cases if not math.isnan(self.X[row][column])]
        if self.nominal[column]:
            bags = defaultdict(list)
            for row, w in known:
                bags[int(self.X[row][column])].append((row, w))
            if sum(sum(w for _, w in bag) >= self.least - SMALL for bag in bags.values()) < 2:
                return None
            gain, _, split = self.measure(list(bags.values()), total)
            return gain, 0.0 if split * total < SMALL else gain / split, None
        known.sort(key=lambda case: self.X[case[0]][column])
        side = min(max(0.1 * sum(w for _, w in known) / self.classes, self.least), 25)
        if len(known) < 2 * side - SMALL:
            return None
        best, cuts = (0.0, None, None), 0
        for i in range(1, len(known)):
            low, high = (self.X[known[at][0]][column] for at in (i - 1, i))
            if low + 1e-5 < high:
                gain, sizes, split = self.measure([known[:i], known[i:]], total)
                if min(sizes) >= side - SMALL:
                    cuts += 1
                    if gain > best[0] + SMALL:
                        best = gain, (low + high) / 2, split
        if cuts == 0 or best[0] - math.log2(cuts) / total < SMALL:
            return None
        gain = best[0] - math.log2(cuts) / total
        observed = max(row[column] for row in self.X if row[column] <= best[1] + SMALL)
        return gain, gain / best[2], observed

    def grow(self, cases):
        counts = self.counts(cases)
        node, total = {"column": None, "counts": counts}, sum(counts)
        if total < 2 * self.least - SMALL or total - max(counts) < SMALL:
            return node
        found = {j: self.candidate(j, cases, total) for j in range(len(self.nominal))}
        found = {j: each for j, each in found.items() if each is not None}
        if not found:
            return node
        few = {j: each for j, each in found.items() if not self.many[j] or all(self.many)}
        if not few:
            return node
        average = sum(each[0] for each in few.values()) / len(few)
        column, most = None, 0.0
        for j, (gain, ratio, _) in found.items():
            if gain >= average - 1e-3 and ratio > most + SMALL:
                column, most = j, ratio
        if column is not None:
            k, cut = self.nominal[column] or 2, found[column][2]
            node |= {"column": column, "cut": cut}
            node["children"] = [self.grow(part) for part in self.parts(column, cut, cases, k)]
        return node

    def training_errors(self, node):
        if node["column"] is None:
            return sum(node["counts"]) - max(node["counts"])
        return sum(map(self.training_errors, node["children"]))

    def collapse(self, node):
        if node["column"] is None:
            return
        if self.training_errors(node) >= sum(node["counts"]) - max(node["counts"]) - 1e-3:
            node["column"] = None
        else:
            for child in node["children"]:
                self.collapse(child)

    def expected(self, counts):
        n = sum(counts)
        if n < SMALL:
            return 0.0
        e = n - max(counts)
        return e + extra(n, e, self.confidence)

    def expected_below(self, node):
        if node["column"] is None:
            return self.expected(node["counts"])
        return sum(map(self.expected_below, node["children"]))

    def sent(self, node, cases, keep):
        """Expected errors when these cases go down; counts are kept on request."""
        if keep:
            node["counts"] = self.counts(cases)
        if node["column"] is None:
            return self.expected(self.counts(cases))
        parts = self.parts(node["column"], node["cut"], cases, len(node["children"]))
        return sum(self.sent(child, part, keep) for child, part in zip(node["children"], parts, strict=True))

    def prune(self, node, cases):
        if node["column"] is None:
            return
        parts = self.parts(node["column"], node["cut"], cases, len(node["children"]))
        for child, part in zip(node["children"], parts, strict=True):
            self.prune(child, part)
        sizes = [sum(child["counts"]) for child in node["children"]]
        largest = max(b for b, size in enumerate(sizes) if size >= max(sizes) - SMALL)
        branch = self.sent(node["children"][largest], cases, False) if self.raising else math.inf
        leaf, tree = self.expected(node["counts"]), self.expected_below(node)
        if leaf <= min(tree, branch) + 0.1 + SMALL:
            node["column"] = None
        elif branch <= tree + 0.1 + SMALL:
            child = node["children"][largest]
            node.update({key: child[key] for key in ("column", "cut", "children")})
            self.sent(node, cases, True)
            self.prune(node, cases)

    def describe(self, node=None):
        """Nested tuples for comparison: (column, cut, children) or the counts of a leaf."""
        node = self.root if node is None else node
        if node["column"] is None:
            return tuple(round(count, 6) + 0.0 for count in node["counts"])
        return node["column"], node["cut"], tuple(self.describe(child) for child in node["children"])


def extra(n, e, confidence):
    """Quinlan's extra errors: the upper limit of Wilson's interval with continuity correction, interpolated below one error."""
    if e < 1:
        base = n * (1 - confidence ** (1 / n))
        return base if e == 0 else base + e * (extra(n, 1.0, confidence) - base)
    if e + 0.5 >= n:
        return max(n - e, 0)
    z, rate = norm.isf(confidence), (e + 0.5) / n
    limit = (rate + z * z / (2 * n) + z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return limit * n - e
