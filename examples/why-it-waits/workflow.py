from valkyr import approve, modules, parallel, sleep, wait_event, workflow


@workflow
def why_it_waits() -> None:
    """Three things at once that take a while."""
    with parallel():
        stock = wait_event("stock.arrived", within="1d")
        sign = approve("Sign the contract")
        pause = sleep("1h")
    go = modules.flow.noop()
