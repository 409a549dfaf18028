"""Databases for parts of the benchmark: copies of one that has tables and no rows."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import redis
from psycopg import sql

FRESH = "bench_fresh"


def keep_fresh(url: str) -> None:
    """Keep a copy of this database, to which nothing is connected."""
    _copy(url, url.rpartition("/")[2], FRESH)


@contextmanager
def fresh(url: str, name: str) -> Iterator[str]:
    """Create a database with tables and no rows; yield its address, and drop it afterwards."""
    _copy(url, FRESH, name)
    try:
        yield f"{url.rpartition('/')[0]}/{name}"
    finally:
        _ask(url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def redis_database(url: str, number: int) -> str:
    """Return the address of another of the sixteen databases of the same Redis."""
    return f"{url.rpartition('/')[0]}/{number}"


def forget(url: str) -> None:
    """Empty one Redis database except for its bindings, because each process declares a queue only
    once.
    """
    with redis.Redis.from_url(url) as client:
        for key in client.scan_iter(count=1_000):
            if b"_kombu.binding." not in key:
                client.unlink(key)


def _copy(url: str, original: str, copy: str) -> None:
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    _ask(url, statement.format(sql.Identifier(copy), sql.Identifier(original)))


def _ask(url: str, statement: sql.Composed) -> None:
    with psycopg.connect(f"{url.rpartition('/')[0]}/postgres", autocommit=True) as connection:
        connection.execute(statement)
