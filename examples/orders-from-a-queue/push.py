"""What the older system does, in three lines: two orders and something that is none."""

import os

import redis

with redis.from_url(os.environ["REDIS_URL"]) as store:
    store.rpush("old-shop-orders", '{"orderId": "ORD-17"}', '{"orderId": "ORD-18"}', "hello")
