"""Combine what a visitor of a shop did: the page, who viewed it, and what was searched for.

Three topics have the visitor's id as their key: page views, changes of profiles from a
database, and searches. Each view is joined with the profile as it was at the time of the view, and with the
searches of the same visitor at most a second away. Each view is sent once, even without a match.

Run it on embedded topics in the directory .brookmere, and stop it with Ctrl-C:

    brookmere run examples/clickstream.py --create-topics

In another terminal, feed it a morning of visits, and see the result:

    brookmere produce profiles examples/data/clickstream/profiles.jsonl --format json
    brookmere produce searches examples/data/clickstream/searches.jsonl --format json
    brookmere produce views examples/data/clickstream/views.jsonl --format json
    brookmere consume activities --follow --from-beginning
"""

from datetime import timedelta

import brookmere as bm

SECOND = timedelta(seconds=1)

# A view that arrives out of order waits for its search like any other.
app = bm.StreamsBuilder("clickstream", key=bm.Text(), corrections=["join-unmatched-out-of-order"])
views = app.stream("views", value=bm.Json("id string, page string"), on_bad_record="continue")
searches = app.stream("searches", value=bm.Json("terms string"), on_bad_record="continue")
# The changes rebuild the table of the database. Its history is for late views.
profiles = app.table(
    "profiles",
    value=bm.Json("name string, zip string, interests array<string>"),
    store="profiles",
    history=timedelta(hours=1),
    on_bad_record="continue",
)

# A view without a page or an id is set aside.
ways = (
    views.split(name="view-")
    .branch(lambda view: view.id.isNotNull() & view.page.isNotNull(), name="good")
    .default_branch(name="refused")
)
ways["view-refused"].to("views-refused")

seen_by = ways["view-good"].left_join(
    profiles, lambda view, profile: {"id": view.id, "page": view.page, "profile": profile}
)

# A view without a search waits until no search can match any more: for the window and the grace period, or
# until nothing has arrived for five seconds.
searched = seen_by.left_join(
    searches,
    lambda view, search: view.withField("search", search.terms),
    windows=bm.JoinWindows(SECOND, grace=SECOND),
    close_idle_after=5 * SECOND,
    store="views-and-searches",
)

# A second search within the second would repeat the view, and so would a browser that sends a view twice.
activities = searched.dedupe(timedelta(minutes=10), by="id", late_to="activities-late")
activities.to("activities")
