"""What all file steps ask: a path, and for a store on the network where that is."""

from pydantic import Field

from runners.public.modules import ModuleInputs, StepContext
from valkyr_plugins.connectors.files.places import S3
from valkyr_plugins.connectors.files.store import Stores, Where


class StoreInputs(ModuleInputs):
    """Where a store is; only paths that begin with s3:// need it."""

    endpoint: str | None = Field(
        None,
        max_length=500,
        description=(
            "For s3://: the server, where it is neither Amazon's nor the one an administrator has "
            "set (VALKYR_S3_ENDPOINT). Private addresses are refused unless an administrator "
            "allows their range."
        ),
        examples=["https://s3.example.com"],
    )
    region: str | None = Field(
        None,
        max_length=60,
        description="For s3://: the region; VALKYR_S3_REGION, else us-east-1, unless given.",
        examples=["eu-central-1"],
    )


def stores(inputs: StoreInputs, ctx: StepContext) -> Stores:
    """The stores that the step's paths may name."""
    return Stores(Where(inputs.endpoint, inputs.region, ctx.credential), ctx)


def circuit_of(inputs: StoreInputs, *paths: str | None) -> str | None:
    """The S3 server that one of the paths needs, or None where all of them stay here."""
    if not any(path is not None and path.lower().startswith(f"{S3}://") for path in paths):
        return None
    from valkyr_plugins.connectors.files.s3.endpoint import endpoint_of

    return f"s3:{endpoint_of(inputs.endpoint, inputs.region).host}"


CIRCUIT_TARGET = "`s3:` and the server's host, for paths in S3; none below the files folder"
