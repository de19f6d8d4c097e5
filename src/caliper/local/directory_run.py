"""A run that is opened from its directory."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.adapters.stores.run_store import RunStore
from caliper.core.errors import DataLoss
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun


@dataclass(frozen=True, slots=True)
class DirectoryRun(StoredRun):
    """A StoredRun whose errors name files of the directory, not keys of its store."""

    store: RunStore

    async def open(self) -> RunLedger:
        try:
            return await StoredRun.open(self)
        except DataLoss as error:
            reason = error.message.partition(";")[0]
            message = f"{reason}; rerun the command that made the run to compute it again"
            raise DataLoss(message, file=str(self.store.file_of(error.file))) from error
