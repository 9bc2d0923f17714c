"""Kernels that are templates for a text (Jinja), and what tells the types of values there and elsewhere."""

from __future__ import annotations

from .support import check, judged


def test_what_a_template_puts_in_is_a_name() -> None:
    check("""
        {# a comment with a "quote #}
        {%- macro skip(n) %}{% endmacro %}
        template_free_head();
        __global__ void
        {{ launch_bounds(schedule) }}
        k({{ index_type }}* count, float* out, const float* x) {
          {% for i in range(3) %}
          {% if atomic %}
          atomicAdd(&out[{{ i }} + threadIdx.x % 3], x[threadIdx.x]);             // -> float-accumulate yes
          {% else %}
          out[{{ i }}] = 0;
          {% endif %}
          {% endfor %}
          int at = atomicAdd(&{{ counts }}[{{ n }}], 1);                          // -> order-dependent yes return=index
          {{ places }}[at] = threadIdx.x;
        }
    """)


def test_a_piece_of_a_kernel_at_the_top_of_a_file() -> None:
    check("""
        {% block body %}
        int at = atomicAdd(&{{ spikes }}[N], 1);                                  // -> order-dependent yes return=index
        {{ spikes }}[at] = neuron;
        {% endblock %}
    """)


def test_a_macro_that_is_given_a_statement() -> None:
    check("""
        __global__ void k(int* counts, const int* at) {
          FOR_EACH(9, j, atomicAdd(counts + j, at[j]);)                           // -> commutative-exact no
          total += atomicAdd(counts, at[0] + threadIdx.x);                        // -> order-dependent yes
        }
    """)


def test_arrays_that_are_set_to_floats_hold_floats() -> None:
    check("""
        __global__ void k(Lost* sums, const int* at) {
          values[threadIdx.x] = 0.0;
          atomicAdd(sums + at[0], values[threadIdx.x]);                           // -> float-accumulate yes
          atomicAdd(sums + at[1], others[threadIdx.x]);                           // -> unknown conditional
        }
    """)


def test_a_float_times_anything_is_a_float() -> None:
    check("""
        __global__ void k(const int* at, const float* x) {
          atomicAdd(Q + at[0], x[1] * 1e-8 * step);                               // -> float-accumulate yes
          atomicAdd(Q + at[0], other * step);                                     // -> unknown conditional
        }
    """)


def test_what_methods_and_views_give() -> None:
    check(
        """
        #include "a.h"
        void assemble(Vector& values, const Counts<int>& counts) {
          auto cells = Reshape(values.ReadWrite(), 3, 3);
          auto numbers = Reshape(counts.Read(), 3);
          forall(9, [=] __device__ (int i) {
            atomicAdd(&cells(at[i], 0), weight(i));                               // -> float-accumulate yes type=double
            atomicAdd(&numbers(at[i]), weight(i));                                // -> commutative-exact no
          });
        }
    """,
        a_h='#include "b.h"\n',
        b_h='#include "c.h"\n',
        c_h='#include "d.h"\n',
        d_h="class Vector {\n public:\n  inline double *ReadWrite(bool on_device = true);\n  int Size() const;\n};\n"
        "template <class T> struct Counts { const T* Read() const { return data; } T* data; };\n",
    )


def test_bytes_that_the_body_of_a_wrapper_takes_for_numbers_of_one_kind() -> None:
    body = "template <typename T> static __host__ __device__ void sum(const void* src, void* dst)"
    found = judged(f"""
        {body} {{ T* to = static_cast<T*>(dst); atomicAdd(to, *static_cast<const T*>(src)); }}
        void add(Tensor x, Tensor y, int kind) {{
          if (kind == 4) run(x, y, [] __device__ (const void* src, void* dst) {{ sum<float>(src, dst); }});
          else run(x, y, [] __device__ (const void* src, void* dst) {{ sum<double>(src, dst); }});
        }}
    """)
    assert {(j.class_, j.verdict) for a, j in found if a.form == "wrapper"} == {("float-accumulate", "yes")}
