"""prometheus-client counts in files with Valkyr's names."""

import subprocess
import sys
from pathlib import Path

from tests.support.stack import PROJECT

COUNT = """
import sys
from pathlib import Path
from executions.vendor_seams.prometheus_values import keep_in_files
from prometheus_client import Counter
slot = "slot7"
made = Counter("valkyr_tried", "Tries.")
labelled = Counter("valkyr_tried_by", "Tries.", ["by"])
labelled.labels("nobody").inc()
keep_in_files(Path(sys.argv[1]), lambda: slot)
made.inc()
labelled.labels("somebody").inc()
slot = "slot8"
made.inc()
"""


def test_each_count_goes_to_the_file_of_the_slot_of_that_moment(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", COUNT, str(tmp_path)], cwd=PROJECT, check=True)

    found = sorted(file.name for file in tmp_path.iterdir())
    assert b"somebody" in (tmp_path / "counter_slot7.db").read_bytes()
    assert b"nobody" not in (tmp_path / "counter_slot7.db").read_bytes()
    assert found == ["counter_slot7.db", "counter_slot8.db"], (
        "prometheus-client has changed: see executions/vendor_seams/prometheus_values.py"
    )
