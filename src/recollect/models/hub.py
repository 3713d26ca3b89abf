"""Fetches files of one model from the model hub, as a program of its own.

`install` runs it in a child process: the hub client's retries, logging and progress bars stay out of the
caller, and a stuck download can be ended.

    python -m recollect.models.hub MODEL REVISION FOLDER FILE...
"""

import importlib
import sys
from typing import Any

ANSWER_SECONDS = 4.0


def fetch(model: str, revision: str, folder: str, files: list[str]) -> None:
    """Put the files in the folder, under the paths they have in the hub."""
    hub: Any = importlib.import_module("huggingface_hub")
    # Ask once with a short time-out first: without a network the download itself tries for half a minute.
    first = hub.hf_hub_url(model, files[0], revision=revision)
    hub.get_hf_file_metadata(first, timeout=ANSWER_SECONDS, token=False)
    for file in files:
        hub.hf_hub_download(model, file, revision=revision, local_dir=folder, token=False)


if __name__ == "__main__":
    try:
        fetch(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
    except Exception as error:  # noqa: BLE001 - it ends the program, with its reason
        sys.exit(f"{type(error).__name__}: {error}".splitlines()[0])
