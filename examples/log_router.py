"""Route the errors of a log to one topic, and all other lines to another.

Run it on embedded topics in the directory .brookmere, and stop it with Ctrl-C:

    brookmere run examples/log_router.py --create-topics

In another terminal, feed it a log, and see where its lines went:

    brookmere produce log server.log
    brookmere consume errors --follow --from-beginning
    brookmere consume other-lines --from-beginning
"""

import brookmere as bm

app = bm.StreamsBuilder("log-router", key=bm.Text(), value=bm.Text())
ways = (
    app.stream("log")
    .split(name="level-")
    # The level is a separate word; "0 ERRORS found" is not an error.
    .branch(lambda line: line.rlike(r"\b(ERROR|FATAL)\b"), name="error")
    .default_branch(name="other")
)
ways["level-error"].to("errors")
ways["level-other"].to("other-lines")
