"""The scanner for C++/CUDA kernel sources, on tree-sitter.

Stages, each a package that knows only those before it::

    source      masked bytes, trees and functions; the files of a checkout and what mentions what
    sites       every atomic operation, found to a fixpoint through wrappers and macros
    judging     class, verdict and reason of each
    python      the Python files beside kernels: what stands in them, and what uses what is compiled
    tensorflow, torch    the way from a site to the op that a user calls; ``guards`` on that way; ``flow`` for both
    libraries   calls of libraries whose results are documented to vary
    embedded    kernels written inside Python files
    unusual     files of other names that are C++ by what they hold, for ``listing``: the files of a folder
    ahead       one pass over the bytes of all files, for what the stages ask of every file (their ``presence``)
    scan        all of it: a repository in, a ``KernelScan`` out; ``tree`` for a folder, with a cache; ``beside`` for
                what a second process does meanwhile
    ops, findings, rules    what the scan says, as ops for the Python rules and as findings
"""
