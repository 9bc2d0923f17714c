import glob
import os
import shutil


def clean(folder):
    for name in os.listdir(folder):
        if name.endswith(".tmp"):
            os.remove(os.path.join(folder, name))
    for d in glob.glob(os.path.join(folder, "ckpt-*")):
        shutil.rmtree(d)


def training_files(folder):
    print("found", len(os.listdir(folder)), "entries")
    if "DONE" not in os.listdir(folder):
        raise SystemExit("not prepared")
    names = [n for n in os.listdir(folder) if n.endswith(".tfrecord")]
    names.sort()
    return [os.path.join(folder, n) for n in names]
