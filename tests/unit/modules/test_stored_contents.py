"""Modules that write and read stored contents, tested one by one with the testing kit."""

from runners.public.modules import StepContext, StoredContent, step
from runners.testing import content_of, run_module, stored_content

CSV = "id,name\n" + "".join(f"{n},name {n}\n" for n in range(1_000))


@step("test.copies_content")
def copies(ctx: StepContext, content: StoredContent) -> dict:
    """Copy stored content in capitals."""
    with ctx.open_content(content) as file:
        return {"copy": ctx.store_content((line.upper() for line in file), media_type="text/csv")}


def test_a_function_reads_a_content_and_stores_another():
    ended = run_module(copies, {"content": stored_content(CSV.encode())})

    copy = ended.outputs["copy"]
    assert content_of(copy).decode() == CSV.upper()
    assert (copy["type"], copy["mediaType"], copy["bytes"]) == ("bytes", "text/csv", len(CSV))
    assert copy["preview"] == CSV.upper()[:80] + "…"


def test_a_content_that_is_binary_has_no_preview():
    assert stored_content(b"\xff\x00\x01")["preview"] == ""
    assert stored_content("ä".encode()[:1])["preview"] == ""


def test_a_content_holds_no_secret_of_the_step():
    @step("test.stores_a_secret", credential=("bearer",))
    def stores(ctx: StepContext) -> dict:
        """Store a secret that is split across two parts."""
        return {"body": ctx.store_content([b"begin s3cr3t-", b"t0ken end ", b"s3cr3t-t0ke"])}

    ended = run_module(stores, credential={"token": "s3cr3t-t0ken"})

    assert content_of(ended.outputs["body"]) == b"begin [secret:test.token] end s3cr3t-t0ke"
