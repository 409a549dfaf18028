from valkyr import approve, workflow


@workflow(concurrency_key=lambda customer: f"{customer}", concurrency_limit=1, on_conflict="queue")
def one_at_a_time(customer: str) -> None:
    """Serve one order of a customer at a time; the others wait."""
    serve = approve(f"{customer} is served?")
