from pathlib import Path


class Catalog:
    def __init__(self, root):
        self.root = Path(root)
        self.classes = [d.name for d in self.root.iterdir() if d.is_dir()]  # <- A
        self.index = {name: i for i, name in enumerate(self.classes)}

    def items(self):
        for name in self.classes:
            for path in sorted((self.root / name).glob("*.png")):
                yield str(path), self.index[name]
