"""The contract of the store of record, as a test class for any adapter to inherit.

    import pytest
    from functools import partial
    from recollect.testing.store_contract import StoreContract

    @pytest.fixture
    def open_store(tmp_path):
        return partial(open_my_store, tmp_path / "a.db")

    class TestMyStore(StoreContract):
        pass

`open_store` has to survive pickling, since part of the suite opens the database in other processes.
Nothing here sleeps or looks at the machine's clock. For failures that show their values, name the modules
imported below to `pytest.register_assert_rewrite` in a conftest.
"""

from recollect.testing.store_audit import AuditContract
from recollect.testing.store_bad_input import BadInputContract
from recollect.testing.store_concurrency import ConcurrencyContract
from recollect.testing.store_copying import CopyingContract
from recollect.testing.store_counting import CountingContract
from recollect.testing.store_feed import FeedContract
from recollect.testing.store_isolation import IsolationContract
from recollect.testing.store_keys import KeysContract
from recollect.testing.store_learning import LearningContract
from recollect.testing.store_mining import MiningContract
from recollect.testing.store_near import NearContract
from recollect.testing.store_once import OnceContract
from recollect.testing.store_projecting import ProjectingContract
from recollect.testing.store_ranking import RankingContract
from recollect.testing.store_reading import ReadingContract
from recollect.testing.store_recording import RecordingContract
from recollect.testing.store_search import SearchContract
from recollect.testing.store_search_filters import SearchFilterContract
from recollect.testing.store_sharing import SharingContract
from recollect.testing.store_spaces import SpacesContract
from recollect.testing.store_spending import SpendingContract
from recollect.testing.store_tending import TendingContract
from recollect.testing.store_threads import ThreadsContract
from recollect.testing.store_upkeep import UpkeepContract

__all__ = ["StoreContract"]


class StoreContract(
    RecordingContract,
    ReadingContract,
    FeedContract,
    IsolationContract,
    SearchContract,
    SearchFilterContract,
    NearContract,
    RankingContract,
    BadInputContract,
    ConcurrencyContract,
    UpkeepContract,
    SpacesContract,
    CopyingContract,
    MiningContract,
    LearningContract,
    SharingContract,
    SpendingContract,
    TendingContract,
    CountingContract,
    AuditContract,
    KeysContract,
    OnceContract,
    ThreadsContract,
    ProjectingContract,
):
    """All of it."""
