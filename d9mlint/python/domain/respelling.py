"""What a flag gives in another spelling: ``args.model.lower()``."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.python.domain.conditions import Cond, Flag, either, flag_test
from d9mlint.python.domain.values import Unknown, Value, alternatives

METHODS = frozenset({"lower", "upper", "capitalize", "title", "strip"})
"""Methods of texts that change nothing but how a text is written."""


class Respelled(Unknown):
    """The text that a method of texts makes of what a flag gives, where that is none of the values that are known."""

    __slots__ = ("flag", "method")

    def __init__(self, flag: Flag, method: str) -> None:
        super().__init__()
        self.flag = flag
        self.method = method

    def of(self, text: str) -> str:
        """What is made of one text."""
        return str(getattr(text, self.method)())

    def value_for(self, text: str, likely: Iterable[str]) -> str:
        """The value of the flag that a text is made of: its default, one of the likely ones, else the text itself."""
        known = [self.flag.default, *self.flag.choices, *likely]
        return next((one for one in known if isinstance(one, str) and self.of(one) == text), text)

    def equals(self, text: str) -> Cond:
        """When it is this text: never where the method makes no such one, else for the values that are known.

        Of a flag without choices any spelling may be given; that of the text stands for all others.
        """
        if self.of(text) != text:
            return False
        known = [
            one for one in (self.flag.default, *self.flag.choices) if isinstance(one, str) and self.of(one) == text
        ]
        values = dict.fromkeys(known if self.flag.choices else (*known, text))
        return either(*(flag_test(self.flag, "==", one) for one in values))


def respelled(value: Value) -> Respelled | None:
    """How the text was made, where a flag gives it in another spelling."""
    return next((leaf for _, leaf in alternatives(value) if isinstance(leaf, Respelled)), None)
