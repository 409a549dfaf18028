from typing import Any

from valkyr import each, filters, modules, workflow


@workflow(
    input={
        "type": "object",
        "required": ["day", "orders"],
        "properties": {
            "day": {"type": "string", "pattern": "^[0-9-]+$"},
            "orders": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["id"],
                    "properties": {"id": {"type": "string"}},
                },
            },
        },
    }
)
def order_archive(today: Any) -> Any:
    """Write a day's orders as files, pack them into one archive, and tidy up."""
    folder = f"days/{today.day}"

    def write_one(order: Any) -> Any:
        file = modules.file.write(path=f"{folder}/{order.id}.json", content=filters.tojson(order))
        return file

    def delete_one(entry: Any) -> Any:
        file = modules.file.delete(path=entry.path)
        return file

    write = each(today.orders, write_one)
    look = modules.file.list.options(after=write)(path=folder, pattern="*.json")
    pack = modules.archive.zip(
        paths=filters.list(filters.map(look.entries, attribute="path")),
        contents={"note.txt": f"Orders of {today.day}: {look.count}"},
        folders=False,
        to=f"archives/{today.day}.zip",
    )
    tidy = each(look.entries, delete_one, after=pack)
    return pack.names
