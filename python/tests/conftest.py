"""Files for the tests, made by the package itself."""

from pathlib import Path

import pytest

import assetq


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small file or folder of every format."""
    folder = tmp_path_factory.mktemp("samples")
    assetq.sample(folder, seed=1, altered=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def no_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests leave nothing in the user's cache."""
    import os

    os.environ["ASSETQ_CACHE"] = str(tmp_path_factory.mktemp("cache"))
