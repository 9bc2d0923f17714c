from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np


def read_one(path):
    blob = np.load(path)
    return blob["x"], blob["y"]


def read_all(paths, workers=8):
    xs, ys = [], []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(read_one, p) for p in paths]
        for fut in as_completed(futures):  # <- A
            x, y = fut.result()
            xs.append(x)
            ys.append(y)
    return np.concatenate(xs), np.concatenate(ys)
