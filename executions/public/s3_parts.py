"""Parts of an upload to S3, in one block of memory, for plugins that write objects."""

from executions.payload_store.s3_upload import BLOCK, blocks

__all__ = ["BLOCK", "blocks"]
