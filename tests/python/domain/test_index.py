"""What the catalogue says of names: one index for all targets, and each target has of it what its versions have."""

from __future__ import annotations

from d9mlint.model import Effect, Package, Target
from d9mlint.python.domain.index import index
from d9mlint.python.domain.knowledge import Knowledge

ALIASES = {"tf": "tensorflow", "tensorflow.keras": "keras"}
OLD = Effect(framework="tensorflow", calls=("tf.keras.seed",), versions="<2.0", seeds=("tensorflow",))
NEW = Effect(framework="tensorflow", calls=("keras.seed", "keras.utils.*"), versions=">=2.0", seeds=("python",))


def of(version: str) -> Target:
    return Target({"tensorflow": Package(version, "stated")})


def test_each_target_has_what_fits_its_versions() -> None:
    effects = (OLD, NEW)
    old, new = (Knowledge(ALIASES, effects, of(version)) for version in ("1.15", "2.9"))
    assert [one.effects_of("keras.seed", "tf.keras.seed") for one in (old, new)] == [(OLD,), (NEW,)]
    assert [one.effects_of("keras.utils.any", "") for one in (old, new)] == [(), (NEW,)]


def test_names_of_programs_stay_with_the_target_that_met_them() -> None:
    effects = (OLD, NEW)
    one = Knowledge(ALIASES, effects, of("2.9"))
    assert one.canonical("tf.keras.layers.Dense") == "keras.layers.Dense"
    assert "tf.keras.layers.Dense" not in index(ALIASES, effects, ()).canonical


def test_the_same_catalogue_is_indexed_once_and_an_equal_one_anew() -> None:
    effects, ops = (OLD, NEW), ()
    assert index(ALIASES, effects, ops) is index(ALIASES, effects, ops)
    assert index(dict(ALIASES), effects, ops) is not index(ALIASES, effects, ops)


def test_a_star_takes_what_the_package_has_under_its_public_name() -> None:
    effects = (NEW._replace(calls=("torch.nn.Dropout", "torch.nn.modules.dropout.Dropout")),)
    known = Knowledge({"torch.nn.modules.*": "torch.nn"}, effects, of("2.9"))
    assert known.names_in("torch.nn.modules.dropout") == ["Dropout"]
    assert len(known.effects_of("torch.nn.Dropout", "")) == 1
