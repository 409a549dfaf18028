"""The database of each model."""

FLOWS = {"executions", "valkyr_runners", "dlq"}
ACCOUNTS = {"auth", "contenttypes", "people"}


def is_flows(label: str) -> bool:
    return label in FLOWS or label.startswith("valkyr_")


class FlowsRouter:
    def db_for_read(self, model, **hints):
        return "flows" if is_flows(model._meta.app_label) else None

    db_for_write = db_for_read

    def allow_migrate(self, db, app_label, **hints):
        if db == "flows":
            return is_flows(app_label) or app_label in ACCOUNTS
        return not is_flows(app_label)
