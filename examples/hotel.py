"""Keep the bookings of a group of hotels: every booking and cancellation shows everywhere immediately.

Bookings and cancellations are streams, rooms and customers are tables. They form three queryable tables: each
booking with its hotel and its guest, the bookings of each customer, and how many rooms of a hotel are taken
in a night. Cancelling twice, or cancelling what was never booked, changes nothing.

Run it on embedded topics in the directory .brookmere, serve its tables, and stop it with Ctrl-C:

    brookmere run examples/hotel.py --create-topics --serve 127.0.0.1:7000

In another terminal, feed it and query it:

    for topic in rooms customers bookings cancellations
    do brookmere produce $topic examples/data/hotel/$topic.jsonl --format json; done
    curl "http://127.0.0.1:7000/hotels/linde/occupancy?day=2026-12-24"
    curl http://127.0.0.1:7000/bookings/b1
    curl http://127.0.0.1:7000/customers/ada/bookings
"""

from datetime import date
from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel
from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serve import Stores

app = bm.StreamsBuilder("hotel", key=bm.Text())
rooms = app.global_table("rooms", value=bm.Json("hotel string, beds int"), store="rooms")
customers = app.table("customers", value=bm.Json("name string, mail string"), store="customers")
BOOKING = bm.Json("room string, customer string, arrival date, nights int")
requests = app.stream("bookings", value=BOOKING, on_bad_record="continue")
cancellations = app.stream("cancellations", value=bm.Json("reason string"), on_bad_record="continue")

# The room determines the hotel.
placed = requests.left_join(
    rooms, lambda booking, room: booking.withField("hotel", room.hotel), key=lambda booking: booking.room
)


def is_good(booking: Column) -> Column:
    """Return whether a booking has an existing room, a customer, a day, and not too many nights."""
    named = booking.hotel.isNotNull() & booking.customer.isNotNull() & booking.arrival.isNotNull()
    return named & booking.nights.between(1, 90)


ways = placed.split(name="booking-").branch(is_good, name="good").default_branch(name="refused")
ways["booking-refused"].to("bookings-refused")


def book(booking: Column, state: Column) -> dict[str, Any]:
    """Take the nights of a booking. A changed booking gives back the nights it no longer needs."""
    days = F.sequence(booking.arrival, F.date_add(booking.arrival, booking.nights - 1))
    taken = F.transform(days, lambda day: F.concat_ws("/", booking.hotel, day.cast("string")))
    return {"status": "booked", "booking": booking, "taken": taken, "ever": F.array_union(state.ever, taken)}


def cancel(cancellation: Column, state: Column) -> Column:
    """Give all nights back. What was never booked has no status, and gets no row."""
    none = F.array().cast("array<string>")
    given_back = state.withField("status", F.lit("cancelled")).withField("taken", none)
    return F.when(state.status.isNotNull(), given_back)


states = (
    ways["booking-good"]
    .group_by_key()
    .cogroup(book)
    .cogroup(cancellations.group_by_key(), cancel)
    .aggregate({"status": None, "booking": None, "taken": [], "ever": []})
)

# A table of nights: a row for each night of a booking, and none for one that was given back.
nights = (
    states.to_stream()
    .flat_map(
        lambda booking, state: F.transform(
            state.ever,
            lambda night: F.struct(
                F.concat_ws("/", booking, night).alias("key"),
                F.when(F.array_contains(state.taken, night), night).alias("value"),
            ),
        )
    )
    .to_table()
)
nights.group_by(lambda _, night: (night, night), key=bm.Text()).count(store="occupancy")

# A customer's new name appears in all bookings.
bookings = states.map_values(
    lambda key, state: state.booking.withField("id", key).withField("status", state.status)
).left_join(
    customers,
    lambda booking, customer: booking.withField("name", customer["name"]),
    foreign_key=lambda booking: booking.customer,
    store="bookings",
)
by_customer = bookings.group_by(lambda _, booking: (booking.customer, booking), key=bm.Text())
by_customer.top_n(100, by="arrival", store="customer-bookings")

routes = APIRouter()


class Booking(BaseModel):
    id: str
    status: str
    hotel: str
    room: str
    customer: str
    name: str | None
    arrival: date
    nights: int


class Night(BaseModel):
    hotel: str
    day: date
    rooms: int
    taken: int


@routes.get("/bookings/{booking}")
def booking_of(booking: str, stores: Stores) -> Booking:
    found = stores["bookings"].get(booking)
    if found is None:
        raise HTTPException(404, f"There is no booking {booking!r}.")
    return Booking(**found)


@routes.get("/customers/{customer}/bookings")
def bookings_of(customer: str, stores: Stores) -> list[Booking]:
    bookings = stores["customer-bookings"].get(customer)
    # Someone may have booked before being listed as a customer.
    if bookings is None and stores["customers"].get(customer) is None:
        raise HTTPException(404, f"There is no customer {customer!r}.")
    return [Booking(**booking) for booking in bookings or []]


@routes.get("/hotels/{hotel}/occupancy")
def occupancy_of(hotel: str, day: date, stores: Stores) -> Night:
    count = sum(room["hotel"] == hotel for _, room in stores["rooms"].all())
    if count == 0:
        raise HTTPException(404, f"There is no hotel {hotel!r}.")
    taken = stores["occupancy"].get(f"{hotel}/{day}") or 0
    return Night(hotel=hotel, day=day, rooms=count, taken=taken)
