"""Push what the older system pushes: two orders and one invalid message."""

import os

import redis

with redis.from_url(os.environ["REDIS_URL"]) as store:
    store.rpush("old-shop-orders", '{"orderId": "ORD-17"}', '{"orderId": "ORD-18"}', "hello")
