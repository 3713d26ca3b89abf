"""Every setting, with its default and what it may be."""

import getpass
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from platformdirs import user_cache_path, user_data_path

from recollect.settings.bounds import MiB

SECRET = (
    *("key", "embedder_key", "model_key", "reranker_key", "redis"),
    *("db_replica", "db_pooler", "upstream_key", "server_key", "agent_mcp", "milvus_token", "neo4j_password"),
)
"""Settings whose value is shown nowhere."""


def shown(name: str, value: Any) -> Any:
    """The value as it may be shown: no secret, and no password of an address."""
    if name in SECRET:
        return "set" if value else ""
    if not isinstance(value, str) or "://" not in value:
        return value
    try:
        parts = urlsplit(value)
    except ValueError:
        return "set"
    if not parts.query and "@" not in value:
        return value
    if "@" not in parts.netloc:
        return value.partition("?")[0]
    user = (parts.username or "") + (":…" if parts.password else "")
    where = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}@{where}", query=""))


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such login: a container with a bare user id
        return "me"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a memory behaves. Values are checked when they are read."""

    db: str = str(user_data_path("recollect") / "recollect.db")
    """Where memory is kept: the path of a SQLite file, or postgresql://user:password@host/database."""
    user: str = field(default_factory=_login)
    """Whose memory the commands, and a server without keys, work on; your login name."""
    key: str = ""
    """The key or passphrase that encrypts the database."""
    key_file: str = ""
    """A file that holds it, in place of `key`."""

    embedder: str = "snowflake-arctic-embed-s"
    """What computes vectors: a model of `recollect models list`, a directory with model.onnx and
    tokenizer.json, the base URL of an OpenAI-compatible API, `hashing` (no model), or `none`."""
    embedder_model: str = "text-embedding-3-small"
    """The model to ask for when `embedder` is a URL."""
    embedder_key: str = ""
    """The API key when `embedder` is a URL."""
    embedder_dimensions: int = 1536
    """The dimensions of the vectors when `embedder` is a URL."""
    embedder_timeout: float = 30.0
    """Seconds to wait for an answer when `embedder` is a URL."""
    embed_on_write: bool = True
    """Compute vectors while recording; if not, `tend` does it later."""
    models: str = str(user_cache_path("recollect") / "models")
    """Where local models are kept."""
    install_models: bool = True
    """Fetch a missing local model on first use."""

    model: str = ""
    """The base URL of an OpenAI-compatible API with a language model; empty: none is used."""
    model_name: str = ""
    """The language model to ask for."""
    model_key: str = ""
    """Its API key."""
    model_timeout: float = 60.0
    """Seconds to wait for one answer of the language model, or for all that a reranker does."""
    reranker: str = "none"
    """What reads the best candidates once more: `none`, `model` (the language model), or the base URL of an
    API with /rerank."""
    reranker_model: str = ""
    """The model to ask for when `reranker` is a URL."""
    reranker_models: str = ""
    """Further models, by commas, that users may choose for their own reranking."""
    reranker_key: str = ""
    """The API key when `reranker` is a URL."""

    prices: str = ""
    """What models cost, in any currency: model=prompt/completion for a million tokens of each, such as
    "gpt-4o-mini=0.15/0.6,text-embedding-3-small=0.02"."""

    content_limit: int = 1 * MiB
    """The most characters one turn or memory may have."""
    metadata_limit: int = 64 * 1024
    """The most characters the metadata of one record may have, as JSON."""
    query_limit: int = 100_000
    """The most characters a query may have."""
    batch_limit: int = 1000
    """The most turns stored in one transaction; longer lists take several."""

    explicit_confidence: float = 0.95
    """The confidence of a memory that was given as it is, or said in so many words."""
    implied_confidence: float = 0.85
    """That of a mined memory that follows from what was said."""
    inferred_confidence: float = 0.7
    """That of one that was worked out, or that an assistant said."""
    uncertain_confidence: float = 0.5
    """That of one that was said with doubt."""
    auto_mine: bool = True
    """Have the background mine conversations; if not, they are mined on demand only."""
    miner: str = "auto"
    """What mines: `rules`, `model` (the language model), or `auto`: the model where there is one."""
    mine_quiet_seconds: float = 60.0
    """How long nobody must have spoken before the background mines a conversation that goes on."""
    mine_user_turns: int = 5
    """How many new turns of the user are mined while a conversation goes on."""
    mine_whole: int = 50
    """Up to so many new turns are mined together, with one call of a model."""
    mine_part: int = 10
    """Of more turns than that, so many are mined together."""
    mine_retry_seconds: float = 60.0
    """How long after a failure mining is tried again; twice as long after each further one, up to a day."""
    contradictions: str = "prefer_new"
    """What holds when two mined memories contradict each other: `prefer_new`, `prefer_old`, or both, the
    newer one marked for somebody to look at: `flag_review`. A correction always holds."""
    pii: str = "redact"
    """What mining does with e-mail addresses, card numbers, passwords and the like: `off` nothing, `tag` says
    so, `redact` writes the kind in place of it, `drop` leaves the memory out. Turns stay as they are."""
    mined_salience: float = 0.2
    """How much a mined memory or entity matters before it is said again; one that was saved outright, 0.5."""
    same_similarity: float = 0.9
    """From which similarity on a mined memory may be one that is known, in other words."""
    same_name: float = 0.75
    """How sure it must be that two names are one's before mining takes them for one."""
    top_k: int = 5
    """How many memories recall returns."""
    threshold: float = 0.1
    """The least similarity of a memory found by its meaning alone: 0 unrelated, 1 the same."""
    candidates: int = 40
    """How many candidates of each kind of search are weighed."""
    semantic_weight: float = 0.725
    """The share of meaning in the score; the rest is words."""
    techniques: str = ""
    """Techniques of recall to switch on and off, such as "-gate,+recency"."""
    context_tokens: int = 1500
    """About how many tokens the `<memory_context>` block may have."""

    audit: str = "writes"
    """What the audit notes: `off`, `writes`, `reads` as well, or `verbose`: also what was asked and found."""
    audit_days: int = 365
    """For how many days the audit is kept."""
    retention: str = ""
    """The retention policy where it differs from the default, such as "expire=on, ttl_days=30"."""
    idle_minutes: float = 30.0
    """A conversation in which nobody has spoken for so long is over."""
    conclude: bool = True
    """Have the background make a summary, and of a task an episode, of a conversation that is over."""
    conclude_turns: int = 200
    """The most turns that are read for it: the first and the last of them."""
    consolidate_minutes: float = 15.0
    """How often near-duplicates are merged, of users with anything new."""
    patterns_minutes: float = 60.0
    """How often procedures are learnt from what was done."""
    pattern_similarity: float = 0.6
    """From which similarity on two tasks that took the same tools are of one kind."""
    promote_minutes: float = 60.0
    """How often facts of a channel are promoted."""
    decay_minutes: float = 1440.0
    expire_minutes: float = 1440.0
    cleanup_minutes: float = 1440.0
    """How often each user's memories decay, expire, and are cleaned up."""
    chore_retry_seconds: float = 60.0
    """How long after a failure a chore is tried again; twice as long after each further one, up to a day."""
    redis: str = ""
    """Where working memory is kept, recall cached and rates counted for several processes:
    redis://user:password@host:6379/0, or, if empty, each process does so for itself, and caches nothing."""
    redis_timeout: float = 1.0
    """Seconds to wait for an answer of Redis."""
    milvus: str = ""
    """Where vectors of large users are searched: http://host:19530 of a Milvus server, or the path of a file
    of Milvus Lite; if empty, in the database."""
    milvus_token: str = ""
    """What it lets us in by: user:password, or a token."""
    milvus_timeout: float = 2.0
    """Seconds to wait for an answer of Milvus."""
    milvus_over: int = 10_000
    """A user with more chunks than this is searched there; of fewer, the database is as fast."""
    neo4j: str = ""
    """Where the graph is walked: bolt://host:7687 or neo4j://host:7687 of a Neo4j server; if empty, in the
    database."""
    neo4j_user: str = "neo4j"
    neo4j_password: str = ""
    """How we sign in there; without a password, not at all."""
    neo4j_database: str = ""
    """Which of its databases; empty: the user's home database."""
    neo4j_timeout: float = 2.0
    """Seconds to wait for an answer of Neo4j."""
    cache_seconds: float = 300.0
    """How long Redis keeps what was recalled; 0 for not at all."""
    working_ttl_seconds: float = 3600.0
    """How long working memory is kept after it was last used."""
    working_tokens: int = 2000
    """From how many tokens on the older items of working memory are compressed; half of the context window,
    where it is given and less."""
    working_keep: int = 6
    """How many of the newest items are then kept as they are."""
    compressor: str = "auto"
    """What compresses them: `rules`, or `auto`: the language model where there is one."""
    working_item_limit: int = 20_000
    """The most characters of one item; the middle of a longer one is cut out, and said so."""
    working_items: int = 200
    """The most items of one conversation; with more, the older ones are compressed."""
    working_values: int = 100
    """The most values by key of one conversation."""
    working_value_limit: int = 64 * 1024
    """The most characters of one value, as JSON."""
    working_conversations: int = 10_000
    """The most conversations whose working memory is held in process; those used longest ago go first."""
    working_mb: int = 256
    """The most memory they take, in MiB."""

    agent_max_iterations: int = 10
    """How many turns an agent's model has for one question before the last, in which it has to answer."""
    agent_max_seconds: float = 300.0
    """How long an agent may take for one question."""
    agent_max_tokens: int = 200_000
    """From how many tokens on, of all turns together, it has to answer."""
    agent_answer_tokens: int = 4096
    """The most tokens of one turn of its model."""
    agent_tool_seconds: float = 60.0
    """How long one call of a tool may take."""
    agent_output_limit: int = 8000
    """The most characters of what a tool answers; the middle of more is cut out, and said so."""
    agent_repeats: int = 3
    """How often the same call may give the same before the model is told; the next time it has to answer."""
    agent_tools: str = "auto"
    """How its model is told of tools: `native` (tool calling), in `text`, or `auto`: in text where the server
    knows no tools."""
    agent_fact_top_k: int = 5
    agent_episode_top_k: int = 3
    agent_procedure_top_k: int = 3
    """How many facts, episodes and procedures an agent recalls before it begins."""
    agent_least_score: float = 0.2
    """The least score of what it recalls. What shares words with the question needs a quarter of it; facts
    and turns that do, none."""
    agent_turns: int = 20
    """How many of the conversation's latest turns it is shown."""
    agent_summaries: int = 5
    """How many summaries of what was done in the conversation it is shown."""
    agent_memory_seconds: float = 10.0
    """How long it waits for memory before it goes on without."""
    agent_auto_fact_extraction: bool = True
    """Mine the conversation when the answer is there; by a model, after it."""
    agent_episode_recording: bool = True
    """Remember an episode of what it did with tools."""
    agent_additional_context: str = ""
    """What every agent is told beside its instructions."""
    agent_mcp: str = ""
    """MCP servers whose tools the server's agents have: commands, URLs, or files with `mcpServers`, separated
    by semicolons."""
    agent_mcp_tools: int = 128
    """The most tools that are taken of one MCP server."""
    agent_mcp_limit: int = 1 * MiB
    """The most characters that a tool of an MCP server may answer with; more is an error."""
    agent_runs: int = 32
    """How many questions to agents one server process works on at once, half of them of one user; others are
    told to come again."""

    db_pool: int = 10
    """How many connections one process keeps (PostgreSQL)."""
    db_timeout: float = 30.0
    """Seconds that a statement, or waiting for a connection, may take (PostgreSQL)."""
    db_pooler: str = ""
    """The address of pgbouncer, in transaction mode, before the same database: reads and writes go there, and
    to `db` only what needs a connection of its own (PostgreSQL)."""
    db_replica: str = ""
    """The address of a hot standby that answers recall, or several, separated by commas (PostgreSQL)."""
    replica_seconds: float = 5.0
    """How old an answer of a standby may be: one that is further behind is not asked."""
    index_over: int = 50_000
    """A user with more chunks than this gets an index of their own, made by the background (PostgreSQL)."""
    cache_mb: int = 512
    """Memory for the vectors of recently searched users, in MiB (SQLite; encrypted PostgreSQL)."""
    server_tends: bool = True
    """Have each server process do the background's work too; if not, `recollect tend --forever` has to."""
    tend_seconds: float = 30.0
    """How often the background looks for work; erased bytes are gone from the files within this time, or when
    what it is at is done."""
    lease_seconds: float = 120.0
    """How long a background job may hold its work before another worker may take it."""

    host: str = "127.0.0.1"
    """Where `recollect serve` listens. Anywhere but on this machine itself, it needs keys."""
    port: int = 7070
    processes: int = 1
    """How many server processes share the address (PostgreSQL)."""
    server_threads: int = 16
    """How many requests one server process works on at once; others wait."""
    body_mb: int = 32
    """The largest body of a request, in MiB; an import may have any size."""
    request_seconds: float = 60.0
    """How long a request may take to arrive, and memory to work on it."""
    connections: int = 1000
    """How many connections one server process holds at once; others are told to come again."""
    keep_alive_seconds: int = 75
    """How long a connection is kept on which nothing is asked."""
    shutdown_seconds: float = 30.0
    """How long a server that is to end goes on with what it has accepted."""
    proxies: str = ""
    """The addresses of proxies that are believed about where a request comes from, separated by commas."""
    rate_limit: int = 1200
    """How many requests a minute one key may make; 0: any."""
    concurrency: int = 64
    """How many requests of one key are worked on or wait at once."""
    cors: str = ""
    """The web pages that may call the server from a browser: their origins, separated by commas."""
    jwt_issuer: str = ""
    """Who signs tokens that are taken in place of keys (the `iss` of an OIDC provider); empty: nobody."""
    jwt_audience: str = "recollect"
    """For whom they must be made out."""
    jwt_keys: str = ""
    """Where the issuer's public keys are: the URL or the path of a JSON Web Key Set."""
    jwt_user: str = "sub"
    """The claim that names the user."""
    session_hours: float = 12.0
    """For how long one is signed in to the memory page; never longer than the key is good for."""
    answer_hours: float = 24.0
    """For how long a write with an Idempotency-Key is not done again."""
    upstream: str = "https://api.openai.com/v1"
    """The base URL of the OpenAI-compatible API behind the gateway."""
    upstream_key: str = ""
    """Its API key; without one, and without keys of our own, the client's is passed on."""
    upstream_responses: str = "auto"
    """Whether it has responses of its own (`native`), or only chat completions (`chat`); `auto`: as it turns
    out."""
    upstream_timeout: float = 600.0
    """Seconds the upstream may be silent."""
    inject_seconds: float = 2.0
    """How long the gateway waits for memory before it goes on without."""
    response_days: float = 30.0
    """For how long a response can be gone on from by its id; 0: as long as its turns are kept."""
    server_url: str = ""
    """The address of a server whose memory `recollect mcp` speaks for; empty: the database's."""
    server_key: str = ""
    """The key that opens it."""
    log_format: str = "text"
    """How the server logs: `text`, or `json`, an object a line. Never what anybody said."""
    log_level: str = "info"
    """What it logs: `debug`, `info` (each request), `warning`, or `error` alone."""

    def __repr__(self) -> str:
        values = (f"{f.name}={shown(f.name, getattr(self, f.name))!r}" for f in fields(self))
        return f"Settings({', '.join(values)})"
