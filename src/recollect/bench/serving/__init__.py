"""What benchmarks of the server share: its process, an upstream, a bare proxy, and light clients."""
