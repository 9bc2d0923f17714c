import random


def negative_pairs(items, k):
    out = []
    for a in items:
        for _ in range(k):
            out.append((a, random.choice(items)))
    return out
