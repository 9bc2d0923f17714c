"""The old value that an atomic returns: how it is used, where it is kept or handed on, when its order does not matter.

``uses`` tells the use by the function around, ``handed`` goes on in functions that are handed the value, ``algorithms``
where an algorithm calls the function that gives it. ``carries``, ``unions``, ``sorting`` and ``fetched`` know uses with
the same result in any order.
"""
