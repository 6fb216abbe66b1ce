"""Run trials in processes of their own, which end when their time is up or nobody waits for them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Self

from .checkout import importing_tools
from .trial import Trial


class TrialProcesses:
    """Trials in processes; a context manager that kills what still runs when it is left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[str]] = []
        self._started: list[subprocess.Popen[str]] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._closed = True
            for server in self._started:
                with suppress(ProcessLookupError):
                    os.killpg(server.pid, signal.SIGKILL)
                server.wait()
                for stream in (server.stdin, server.stdout):
                    if stream is not None:
                        with suppress(OSError):
                            stream.close()

    def run(self, trial: Trial, limit: float) -> dict[str, Any]:
        """Return what came out of a trial, or that it took longer than `limit` seconds."""
        server = self._server()
        if server is None:
            return {"outcome": "timeout", "message": "nobody waits for it"}
        assert server.stdin is not None and server.stdout is not None
        try:
            server.stdin.write(json.dumps({"limit": limit, "trial": asdict(trial)}) + "\n")
            server.stdin.flush()
            line = server.stdout.readline()
        except OSError:
            line = ""
        if not line:
            return {"outcome": "timeout", "message": "the process that runs trials was ended"}
        with self._lock:
            self._idle.append(server)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _server(self) -> subprocess.Popen[str] | None:
        """Return a process that nobody uses; None when the last one was killed."""
        with self._lock:
            if self._closed:
                return None
            if self._idle:
                return self._idle.pop()
            server = subprocess.Popen(
                [sys.executable, "-P", "-m", f"{__package__}.trial_server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
                env=importing_tools(),
            )
            self._started.append(server)
            return server
