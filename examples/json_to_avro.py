"""Convert orders from JSON to Avro, with their schema in a schema registry.

Start a registry for development, and run the program on embedded topics in the directory .brookmere:

    brookmere registry up
    brookmere run examples/json_to_avro.py --create-topics -c schema.registry.url=http://127.0.0.1:8081

In another terminal, feed it orders, and see the resulting Avro and the registered schema:

    echo '{"id": 1, "item": "tea", "price": 3.20}' | brookmere produce orders-json
    brookmere consume orders-avro --from-beginning --registry http://127.0.0.1:8081
    curl http://127.0.0.1:8081/subjects/orders-avro-value/versions/latest

With `-c bootstrap.servers=...` it runs on Kafka, where any client of the registry can read the orders.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pyspark.sql import functions as F

import brookmere as bm


@dataclass
class Order:
    id: int
    item: str
    price: Decimal
    ordered: datetime
    count: int = 1


app = bm.StreamsBuilder("json-to-avro", key=bm.Text())
orders = app.stream(
    "orders-json", value=bm.Json("id bigint not null, item string, price decimal(38,18), count bigint")
)
(
    orders.filter(lambda order: order.item.isNotNull())
    .map_values(
        lambda _key, order, timestamp: {
            "id": order.id,
            "item": F.trim(order.item),
            "price": F.coalesce(order.price, F.lit(0)).cast("decimal(38,18)"),
            "ordered": F.timestamp_millis(timestamp),
            "count": F.coalesce(order["count"], F.lit(1)),
        }
    )
    .to("orders-avro", value=bm.Avro(Order, name="shop.Order"))
)
