"""The statements. What is put together here is put together of the names in `drawing`; all else is given as
parameters."""

from recollect.stores.neo4j.drawing import ALL_LABELS, EDGES, FOLLOWED_BY, LABELS, LINKS, Edge

META = "Recollect"
"""The label of the one node that says which making of the graph this is."""

MADE = f"MATCH (m:{META} {{id: 'graph'}}) RETURN m.epoch AS epoch, m.layout AS layout"
IS_MADE = f"MATCH (m:{META} {{id: 'graph', epoch: $epoch}}) RETURN m.epoch AS epoch"
MAKE = (
    f"MERGE (m:{META} {{id: 'graph'}}) ON CREATE SET m.epoch = $epoch SET m.layout = $layout "
    "RETURN m.epoch AS epoch"
)
UNMAKE = f"MATCH (m:{META} {{id: 'graph'}}) DELETE m"

SCHEMA = (
    f"CREATE CONSTRAINT recollect_graph IF NOT EXISTS FOR (m:{META}) REQUIRE m.id IS UNIQUE",
    *(
        f"CREATE CONSTRAINT recollect_{label.lower()} IF NOT EXISTS FOR (n:{label}) "
        "REQUIRE (n.user, n.id) IS UNIQUE"
        for label in ALL_LABELS
    ),
    *(
        f"CREATE INDEX recollect_{label.lower()}_channel IF NOT EXISTS FOR (n:{label}) ON (n.user, n.channel)"
        for label in LABELS.values()
    ),
    "CREATE INDEX recollect_turn_place IF NOT EXISTS FOR (n:Turn) ON (n.user, n.conversation, n.index)",
)

BONDS = (
    f"MATCH (m:{META} {{id: 'graph', epoch: $epoch}}) UNWIND $entities AS entity "
    "OPTIONAL MATCH (e:Entity {user: $user, id: entity})-[:HAS_RELATION|RELATES_TO]-(r:Relation) "
    "WHERE ($channels IS NULL OR r.channel IN $channels) AND ($before IS NULL OR r.id < $before) "
    "WITH DISTINCT r.id AS id ORDER BY id DESC LIMIT $most RETURN collect(id) AS ids, $epoch AS epoch"
)
ABOUT = (
    f"MATCH (m:{META} {{id: 'graph', epoch: $epoch}}) "
    "OPTIONAL MATCH (e:Entity {user: $user, id: $entity})<-[:ABOUT]-(n) "
    "RETURN collect(DISTINCT n.id) AS ids, $epoch AS epoch"
)


def put(kind: str) -> str:
    return (
        f"UNWIND $rows AS row MERGE (n:{LABELS[kind]} {{user: $user, id: row.id}}) "
        "SET n = row SET n.user = $user"
    )


def blank(kind: str) -> str:
    """What is gone is left without anything but its key, for `tidy` to take away."""
    return (
        f"UNWIND $ids AS id MATCH (n:{LABELS[kind]} {{user: $user, id: id}}) SET n = {{user: $user, id: id}}"
    )


def sever(kind: str) -> str:
    """Takes away what leads to such records by a link, as the store does with what links to one that is gone.
    What has its key in a field keeps it."""
    return (
        f"UNWIND $ids AS id MATCH (n:{LABELS[kind]} {{user: $user, id: id}})<-[e:{'|'.join(LINKS)}]-() "
        "WITH collect(e) AS edges FOREACH (e IN edges | DELETE e)"
    )


def unlink(kind: str, forward: bool) -> str | None:
    """Takes away the edges that are drawn with such records, once all are found; what they led to."""
    types = [edge.type for edge in EDGES[kind] if edge.forward is forward]
    if kind == "turn":
        types.append(FOLLOWED_BY)
    if not types:
        return None
    (left, right), edges = ("-", "->") if forward else ("<-", "-"), "|".join(types)
    return (
        f"UNWIND $ids AS id MATCH (n:{LABELS[kind]} {{user: $user, id: id}}){left}[e:{edges}]{right}(t) "
        "WITH collect(e) AS edges, collect(DISTINCT {labels: labels(t), id: t.id}) AS ends "
        "FOREACH (e IN edges | DELETE e) RETURN ends"
    )


def link(kind: str, edge: Edge) -> str:
    """What an edge leads to may be told of later: until then it has but its key."""
    drawn = f"(n)-[:{edge.type}]->(t)" if edge.forward else f"(t)-[:{edge.type}]->(n)"
    return (
        f"UNWIND $rows AS row MATCH (n:{LABELS[kind]} {{user: $user, id: row.id}}) "
        f"MERGE (t:{edge.label} {{user: $user, id: row.target}}) CREATE {drawn}"
    )


FOLLOW = tuple(
    "UNWIND $rows AS row MATCH (n:Turn {user: $user, id: row.id}) "
    f"MATCH (t:Turn {{user: $user, conversation: row.conversation, index: row.index {sign} 1}}) "
    f"MERGE {drawn}"
    for sign, drawn in (("-", f"(t)-[:{FOLLOWED_BY}]->(n)"), ("+", f"(n)-[:{FOLLOWED_BY}]->(t)"))
)


def tidy(label: str) -> str:
    """Takes away what has nothing but its key, once nothing leads to it any more."""
    return (
        f"UNWIND $ids AS id MATCH (n:{label} {{user: $user, id: id}}) "
        "WHERE n.channel IS NULL AND NOT (n)--() DELETE n"
    )


def forget(label: str) -> str:
    return (
        f"MATCH (n:{label}) WHERE n.user = $user AND n.id IS NOT NULL WITH n LIMIT $most "
        "DETACH DELETE n RETURN count(*) AS gone"
    )


def drop(label: str) -> str:
    return (
        f"MATCH (n:{label}) WHERE n.user IS NOT NULL WITH n LIMIT $most "
        "DETACH DELETE n RETURN count(*) AS gone"
    )
