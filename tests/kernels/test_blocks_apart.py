"""A switch that has each block add to cells of its own is told with the value that makes results repeat."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan

from .support import repository

_KERNEL = """
struct Params {{ float* sums; int stride; bool deterministic; bool nondeterministic; }};
__global__ void k(Params params, const float* x, const int* at) {{
  const int row = 64 * blockIdx.y {choice};
  auto tile = make_tile(params.sums + row, Shape<32>{{}});
  auto part = slice(tile);
  float* other = params.sums;
  atomicAdd({target}, x[threadIdx.x]);
}}
"""


@pytest.mark.parametrize(
    "choice, target, switch",
    [
        ("+ (!params.deterministic ? 0 : blockIdx.x * params.stride)", "&part[at[0]]", "deterministic=True"),
        ("+ (params.deterministic ? blockIdx.x * params.stride : 0)", "&part[at[0]]", "deterministic=True"),
        ("+ (params.nondeterministic ? 0 : blockIdx.x * params.stride)", "&part[at[0]]", "nondeterministic=False"),
        ("+ (params.deterministic ? 0 : blockIdx.x * params.stride)", "&part[at[0]]", ""),
        ("+ (!params.deterministic ? 0 : params.stride)", "&part[at[0]]", ""),
        ("+ (!params.deterministic ? 0 : blockIdx.x * params.stride)", "&other[at[0]]", ""),
    ],
)
def test_the_switch_is_told(choice: str, target: str, switch: str) -> None:
    site, *others = scan(repository(a_cu=_KERNEL.format(choice=choice, target=target))).sites
    assert not others and site.guard.level == "none"
    assert site.guard.switch == switch
