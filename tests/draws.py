"""How many examples the tests of properties draw: few by default, many where HYPOTHESIS_PROFILE asks to explore."""

import os

from hypothesis import HealthCheck, Phase, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or "fixed"
# In CI, which has half an hour for everything, three times as many.
MORE = {"explore": 3 if os.environ.get("CI") else 10}.get(PROFILE, 1)


def draws(number):
    """The settings of a test that draws so many examples, more where it is to explore."""
    return settings(max_examples=MORE * number)


# The same draws in every run: a failure belongs to the change under test. No deadlines: how long an example takes says
# more about what else the machine does; nor does it matter how long drawing takes. Examples of a test may share its
# folder: they write their files anew.
settings.register_profile(
    "fixed",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
# New draws in every run: what nobody has met yet. CI draws the same ones in every run.
settings.register_profile(
    "explore", settings.get_profile("fixed"), derandomize=bool(os.environ.get("CI")), max_examples=25 * MORE
)
# The tool of mutants asks whether a test fails, not on which smallest example: looking for that takes most of the time.
settings.register_profile("mutants", settings.get_profile("fixed"), phases=[Phase.explicit, Phase.generate])
