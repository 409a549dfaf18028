from typing import Annotated, Any

from pydantic import BaseModel, Field

from valkyr import each, modules, otherwise, when, workflow

Guest = Annotated[str, Field(pattern="^[a-z]+$")]


class Trip(BaseModel):
    trip: Annotated[str, Field(pattern="^[A-Z0-9-]+$")]
    guests: list[Guest] = ["ann"]
    cars: Annotated[int, Field(description="How many cars are left.")]


@workflow
def book_a_trip(booking: Trip) -> Any:
    """Book a flight, rooms and a car; when one cannot be had, undo what was booked."""
    folder = f"trips/{booking.trip}"
    flight = modules.file.write.options(undo=lambda made: modules.file.delete(path=made.path))(
        path=f"{folder}/flight.txt", content="Seat 12A"
    )

    def book_room(guest: str) -> Any:
        path = f"{folder}/room-{guest}.txt"
        cancel = modules.file.delete.options(retry="patient")
        room = modules.file.write.options(undo=lambda _: cancel(path=path))(
            path=path, content=f"A room for {guest}"
        )
        return room

    rooms = each(booking.guests, book_room, at_most=1, after=flight)
    with when(booking.cars > 0, id="cars_left"):
        car = modules.file.write(path=f"{folder}/car.txt", content="A small one")
    with otherwise():
        modules.flow.fail.options(id="no_car")(message=f"No car is left for {booking.trip}.")
    return car.path
