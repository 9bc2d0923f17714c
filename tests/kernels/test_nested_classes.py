"""Members of classes that are a part of a class template, and of what an alias in one stands for."""

from __future__ import annotations

from .support import check

_CLASSES = """
    #pragma once
    struct Score { float base; int bonus; };
    template <typename I, typename F>
    struct search_t {
      template <int N> struct other_t { struct view_t { double* counts; }; };
      using score_t = Score;
      struct climber_t {
        struct view_t { I* counts; span<F> weights; score_t* scores; };
      };
    };
    struct view_t { double* counts; };
    template struct search_t<int, float>;
"""


def test_a_member_of_a_part_of_a_class_template() -> None:
    check("""
        #include "classes.h"
        __global__ void add(typename search_t<int, float>::climber_t::view_t view, int at) {
          atomicAdd(view.counts, (int)threadIdx.x);                                // -> commutative-exact no
          atomicAdd(&view.weights[at], 0.5f * threadIdx.x);                        // -> float-accumulate yes
        }
    """, classes_h=_CLASSES)  # fmt: skip


def test_what_an_alias_in_a_class_template_stands_for() -> None:
    check("""
        #include "classes.h"
        __global__ void add(typename search_t<int, float>::score_t& score, float x) {
          atomicAdd(&score.base, x * threadIdx.x);                                 // -> float-accumulate yes type=float
          atomicAdd(&score.bonus, (int)threadIdx.x);                               // -> commutative-exact no type=int
        }
    """, classes_h=_CLASSES)  # fmt: skip


def test_an_object_that_is_handed_to_what_uses_other_members() -> None:
    text = """
        struct Update { int* changed; int* seen; };
        __device__ void note(Update& update, int at) { %s }
        __global__ void mark(Update update, const int* at) {
          note(update, at[threadIdx.x]);
          atomicExch(&update.changed[at[threadIdx.x]], 1);                         // -> order-dependent %s
        }
    """
    check(text % ("update.seen[at] = at;", "no"))
    check(text % ("update.changed[at] = at;", "conditional"))
    check(text % ("further(update, at);", "conditional"))
