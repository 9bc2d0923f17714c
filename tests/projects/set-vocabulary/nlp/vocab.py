PAD, UNK = "<pad>", "<unk>"


def build_vocab(texts):
    words = set()
    for text in texts:
        words.update(text.lower().split())
    return [PAD, UNK] + list(words)  # <- A


def encode(texts, vocab, length):
    lookup = {w: i for i, w in enumerate(vocab)}
    out = []
    for text in texts:
        ids = [lookup.get(w, 1) for w in text.lower().split()][:length]
        out.append(ids + [0] * (length - len(ids)))
    return out
