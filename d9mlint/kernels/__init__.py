"""The scanner for C++/CUDA kernel sources, on tree-sitter.

Stages, each a module that knows only those before it::

    names -> mask -> unit -> repository        what atomics are called; one parsed file; the files of a checkout
    macros, wrappers -> atomics                every atomic operation, found to a fixpoint through wrappers and macros
    types, uses, ... -> judge                  class, verdict and reason of each
    registrations, tensorflow, torch -> flow   which op the user meets it in, behind which guard
    libraries                                  calls of libraries documented to vary
    embedded                                   kernels written inside Python files
    scan                                       all of it: a path in, a ``KernelScan`` out
"""
