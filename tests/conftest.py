"""Settings of the whole suite."""

import os

from hypothesis import settings

# Where CI is set, examples do not change from run to run: a failure there belongs to the change under test. Runs by
# hand keep drawing new ones.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
