"""Evidence to be kept: the report with its date and an honest label of what it is evidence of."""

from __future__ import annotations

import datetime

from d9mlint.model import EvidenceReport
from d9mlint.report.evidence.json_ import data
from d9mlint.report.json_ import dump


def record(report: EvidenceReport, today: datetime.date | None = None) -> str:
    """The evidence file: what the report says, when it was seen, and on what kind of device."""
    devices = sorted({one.device for one in report.evidence if one.device})
    label = " and ".join(device.upper() for device in devices) or "nothing executed"
    date = (today or datetime.datetime.now(datetime.timezone.utc).date()).isoformat()
    return dump({**data(report), "date": date, "label": f"{label} evidence; says nothing of other devices or builds"})
