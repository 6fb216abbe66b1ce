from __future__ import annotations

import pytest
from power_oracle import Oracle, compile_for_power10


@pytest.fixture(scope="session")
def power_oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    executable = tmp_path_factory.mktemp("oracle") / "power_oracle"
    return Oracle(compile_for_power10("power_oracle.c", executable))
