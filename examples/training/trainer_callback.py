"""Registers each checkpoint that a `Trainer` of transformers saves, to be evaluated by suites."""

import logging
from pathlib import Path
from typing import Any

import caliper
from caliper.core.errors import CaliperError


class CheckpointCallback:
    """`Trainer(..., callbacks=[CheckpointCallback(server="caliper.example:50051")])`: a
    TrainerCallback with the options of `caliper.register_checkpoint`.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options

    def on_save(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
        if state.is_world_process_zero:
            folder = Path(args.output_dir, f"checkpoint-{state.global_step}").absolute()
            try:
                caliper.register_checkpoint(folder, step=state.global_step, **self._options)
            except CaliperError as error:  # `caliper checkpoint add` can still register it.
                logging.getLogger(__name__).warning("%s is not registered: %s", folder, error)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("on_"):
            raise AttributeError(name)
        return lambda *_, **__: None
