"""The server as `recollect serve` runs it, with settings from the benchmark."""

from recollect.bench.serving.child import ready, told

if __name__ == "__main__":
    from recollect.server.running import run

    run(told(), lambda url, locked: ready(url))
