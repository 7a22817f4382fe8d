"""Predict how long parcels will be in transit, with a model that is loaded once per process.

The model is a class: `open` reads its weights when a process starts, and every call receives many parcels at
once, as Arrow columns. Any library can replace these few sums: what it needs is imported and
loaded in `open`.

Fill the topic, and run the program until everything is processed:

    brookmere produce parcels examples/data/delivery_times/parcels.jsonl --format json --create
    brookmere run examples/delivery_times.py --until-idle

See the parcels that will be late:

    brookmere consume late-parcels --from-beginning --value-serde double
"""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import brookmere as bm

WEIGHTS = Path(__file__).parent / "data" / "delivery_times" / "weights.json"


class DeliveryTime:
    """A linear model of the hours that a parcel takes."""

    def open(self) -> None:
        """Load the weights, once per process, before the first parcel."""
        self.weights = json.loads(WEIGHTS.read_text())

    def __call__(self, parcels: pa.RecordBatch) -> pa.Array:
        """Return as many hours as there are parcels."""
        fields = parcels.column("value")
        hours = pa.array([self.weights["start"]] * len(parcels), pa.float64())
        for name in ("distance", "weight", "stops"):
            hours = pc.add(hours, pc.multiply(pc.struct_field(fields, name), self.weights[name]))
        return pc.if_else(
            pc.struct_field(fields, "express"), pc.multiply(hours, self.weights["express"]), hours
        )


app = bm.StreamsBuilder("delivery-times", key=bm.Text())
parcels = app.stream(
    "parcels",
    value=bm.Json("distance double, weight double, stops double, express boolean"),
    on_bad_record="continue",
)
hours = parcels.map_values(bm.python(DeliveryTime, returns="double", batch="arrow"), name="predict")
hours.to("delivery-times")
hours.filter(lambda hours: hours > 48).to("late-parcels")
