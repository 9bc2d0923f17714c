STOP = {"the", "a", "an", "of"}


def vocabulary(texts):
    seen = set()
    order = []
    for text in texts:
        for w in text.split():
            if w not in seen and w not in STOP:
                seen.add(w)
                order.append(w)
    assert len(seen) == len(order)
    return order


def tags(rows):
    return sorted({t for r in rows for t in r["tags"]})
