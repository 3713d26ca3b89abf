"""The graph of a memory in Neo4j, or in another server that speaks Bolt and Cypher."""
