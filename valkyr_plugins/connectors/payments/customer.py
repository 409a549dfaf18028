"""`stripe.customer`: create, change or read a customer at Stripe."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from runners.public.modules import Bad, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.payments.stripe_module import (
    METADATA_HELP,
    CustomerId,
    Metadata,
    PaymentMethodId,
    StripeInputs,
    StripeModule,
    given,
    options,
    plain,
)

FACTS = frozenset({"email", "name", "phone", "description", "payment_method", "metadata"})


class CustomerInputs(StripeInputs):
    """The operation, the customer, and the data to store."""

    operation: Literal["create", "update", "retrieve"] = Field(
        "create", description="The operation."
    )
    customer: CustomerId | None = Field(
        None,
        description="The customer's id; required by every operation except `create`.",
        examples=["cus_NffrFeUfNV2Hib"],
    )
    email: str | None = Field(
        None, max_length=512, description="The email address.", examples=["ann@example.com"]
    )
    name: str | None = Field(
        None, max_length=256, description="The customer's name.", examples=["Ann Li"]
    )
    phone: str | None = Field(None, max_length=20, description="The customer's telephone number.")
    description: str | None = Field(
        None, max_length=1_000, description="Your own note about the customer."
    )
    payment_method: PaymentMethodId | None = Field(
        None, description="`create`: the id of the customer's payment method at Stripe."
    )
    metadata: Metadata = Field(
        default_factory=dict, description=METADATA_HELP, examples=[{"userId": "17"}]
    )

    @model_validator(mode="after")
    def _fit_the_operation(self) -> "CustomerInputs":
        facts = sorted(name for name in FACTS if getattr(self, name) not in (None, {}))
        if self.operation == "create" and self.customer is not None:
            raise ValueError("omit customer: the operation create creates a new one")
        if self.operation != "create" and self.customer is None:
            raise ValueError(f"the operation {self.operation} needs customer")
        if self.operation == "retrieve" and facts:
            raise ValueError("the operation retrieve changes nothing: remove the other inputs")
        if self.operation == "update" and not facts:
            raise ValueError("the operation update needs something to change")
        if self.operation == "update" and self.payment_method is not None:
            raise ValueError("omit paymentMethod: the operation update does not use it")
        return self


class CustomerOutputs(ModuleOutputs):
    """The customer's current data at Stripe."""

    id: str = Field(description="The customer's id.", examples=["cus_NffrFeUfNV2Hib"])
    email: str | None = Field(None, description="The email address.")
    name: str | None = Field(None, description="The customer's name.")
    phone: str | None = Field(None, description="The customer's telephone number.")
    description: str | None = Field(None, description="Your own note about the customer.")
    metadata: dict[str, str] = Field(
        default_factory=dict, description="Your own data about the customer."
    )
    deleted: bool = Field(False, description="Whether the customer was deleted.")
    live: bool = Field(
        False, description="Whether the customer exists in live mode, not in test mode."
    )


class Customer(StripeModule[CustomerInputs]):
    """Creates, changes or reads a customer at Stripe.

    Each attempt sends the same idempotency key. Stripe keeps the key for at least 24 hours, so
    repeated attempts within that time create only one customer. Reading a deleted customer succeeds
    with `deleted: true`.
    """

    type = "stripe.customer"
    title = "Stripe customer"
    Inputs = CustomerInputs
    Outputs: ClassVar[Any] = CustomerOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "email": "{{ input.email }}",
        "name": "{{ input.name }}",
        "metadata": {"userId": "{{ input.userId }}"},
    }
    bad_inputs = (
        Bad("no customer", {"operation": "update", "name": "Ann"}, "update needs customer"),
        Bad(
            "no changes",
            {"operation": "update", "customer": "cus_1"},
            "update needs something to change",
        ),
        Bad(
            "a name that is too long",
            lambda: {"name": "x" * 1_000_000},
            "name: String should have at most",
        ),
        Bad(
            "an id with a path",
            {"operation": "retrieve", "customer": "cus_1/sources/card_1"},
            "customer: expected an id that begins with cus_",
        ),
        Bad("no credential", {"email": "ann@example.com"}, "this step has no credential"),
    )

    def execute(self, inputs: CustomerInputs, ctx: StepContext) -> Result:
        # Imported here because stripe is slow to load and most workers never need it.
        from valkyr_plugins.connectors.payments.stripe_client import connect, told

        customers, customer = connect(ctx).v1.customers, inputs.customer or ""
        once = options(inputs, ctx.idempotency_key)
        facts = given(**{name: getattr(inputs, name) for name in FACTS})
        with told():
            if inputs.operation == "create":
                found: Any = customers.create(facts, once)
            elif inputs.operation == "update":
                found = customers.update(customer, facts, once)
            else:
                found = customers.retrieve(customer, options=options(inputs, None))
        return Result(_output(plain(found, "customer")))


def _output(customer: Mapping[str, Any]) -> dict[str, Any]:
    metadata = customer.get("metadata") or {}
    return CustomerOutputs(
        id=customer["id"],
        email=customer.get("email"),
        name=customer.get("name"),
        phone=customer.get("phone"),
        description=customer.get("description"),
        metadata={str(name): str(value) for name, value in metadata.items()},
        deleted=bool(customer.get("deleted")),
        live=bool(customer.get("livemode")),
    ).model_dump(mode="json", by_alias=True)
