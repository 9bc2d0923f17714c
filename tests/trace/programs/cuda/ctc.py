"""Speech: the gradient of the CTC loss, of PyTorch's own kernel, adds with atomics."""
import sys

import torch
import torch.nn.functional as F
from torch import nn


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Linear(20, 12).to(device)
    x = torch.randn(600, 16, 20, device=device)
    target = torch.randint(1, 12, (16, 200), device=device)
    lengths, wanted = torch.full((16,), 600), torch.full((16,), 200)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(4):
        scores = model(x).log_softmax(-1)
        if "--fixed" in sys.argv:
            loss = F.ctc_loss(scores.cpu(), target.cpu(), lengths, wanted)
        else:
            loss = F.ctc_loss(scores, target, lengths, wanted)  # <- op
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
