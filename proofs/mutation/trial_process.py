"""Run trials in processes of their own, which end when their time is up or nobody waits for them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Any, Self

from .trial import Trial


class TrialProcesses:
    """Trials in processes; a context manager that kills what still runs when it is left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._closed = True
            for process in self._running:
                process.kill()

    def run(self, trial: Trial, limit: float) -> dict[str, Any]:
        """Return what came out of a trial, that it took longer than `limit` seconds, or that it crashed."""
        with self._lock:
            if self._closed:
                return {"outcome": "timeout", "message": "nobody waits for it"}
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", f"{__package__}.trial"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
            self._running.add(process)
        try:
            out, err = process.communicate(json.dumps(asdict(trial)), timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {"outcome": "timeout", "message": f"no end after {limit:.0f} s"}
        finally:
            with self._lock:
                self._running.discard(process)
        said: dict[str, Any] = {}
        for line in out.splitlines():
            if line.endswith("}"):
                said |= json.loads(line)
        if "outcome" not in said:
            last = next((line for line in reversed(err.splitlines()) if line.strip()), "")
            message = f"the process ended with exit code {process.returncode}: {last.strip()}"
            said |= {"outcome": "error" if said.get("built") else "crashed", "message": message}
        return said
