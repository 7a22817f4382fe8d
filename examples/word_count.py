"""Count words, the first program of every stream processor.

Run it on embedded topics in the directory .brookmere, and stop it with Ctrl-C:

    brookmere run examples/word_count.py --create-topics

In another terminal, feed it lines, and watch the counts change:

    brookmere produce lines
    brookmere consume word-counts --follow --from-beginning
"""

from pyspark.sql import functions as F

import brookmere as bm

app = bm.StreamsBuilder("word-count")
lines = app.stream("lines", key=bm.Text(), value=bm.Text())
counts = (
    lines.flat_map_values(lambda line: F.array_remove(F.split(F.lower(line), r"\s+"), ""))
    .group_by(lambda key, word: word)
    .count(store="counts")
)
counts.to_stream().to("word-counts", key=bm.Text(), value=bm.Long())
