from collections import Counter, OrderedDict, defaultdict


def count(rows):
    counts = Counter()
    for row in rows:
        counts.update(row["words"])
    return counts


def index(counts, minimum=2):
    return {w: i for i, (w, n) in enumerate(counts.items()) if n >= minimum}


def group(rows):
    out = defaultdict(list)
    for row in rows:
        out[row["user"]].append(row["stars"])
    return OrderedDict((user, sum(s) / len(s)) for user, s in out.items())
