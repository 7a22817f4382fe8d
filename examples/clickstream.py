"""Puts together what a visitor of a shop did: the page, who looked at it, and what was searched for.

Three topics share the visitor's id as their key: views of pages, changes of profiles as they leave a
database, and searches. Each view looks up the profile, as it was at the time of the view, and meets the
searches of the same visitor that are at most a second away. Each view comes out once, also without either.

Run it on embedded topics in the directory .brookmere, and stop it with Ctrl-C:

    brookmere run examples/clickstream.py --create-topics

In another terminal feed it a morning of visits, and see what comes together:

    brookmere produce profiles examples/data/clickstream/profiles.jsonl --format json
    brookmere produce searches examples/data/clickstream/searches.jsonl --format json
    brookmere produce views examples/data/clickstream/views.jsonl --format json
    brookmere consume activities --follow --from-beginning
"""

from datetime import timedelta

import brookmere as bm

SECOND = timedelta(seconds=1)

# A view that comes out of order waits for its search like any other.
app = bm.StreamsBuilder("clickstream", key=bm.Text(), corrections=["join-unmatched-out-of-order"])
views = app.stream("views", value=bm.Json("id string, page string"), on_bad_record="continue")
searches = app.stream("searches", value=bm.Json("terms string"), on_bad_record="continue")
# The changes make the table of the database again. Its history is for views that come late.
profiles = app.table(
    "profiles",
    value=bm.Json("name string, zip string, interests array<string>"),
    store="profiles",
    history=timedelta(hours=1),
    on_bad_record="continue",
)

# A view of nothing, or one that cannot be told from others, is put aside.
ways = (
    views.split(name="view-")
    .branch(lambda view: view.id.isNotNull() & view.page.isNotNull(), name="good")
    .default_branch(name="refused")
)
ways["view-refused"].to("views-refused")

seen_by = ways["view-good"].left_join(
    profiles, lambda view, profile: {"id": view.id, "page": view.page, "profile": profile}
)

# A view without a search waits until none can come any more: for the window and the grace period, or
# until nothing at all has come for five seconds.
searched = seen_by.left_join(
    searches,
    lambda view, search: view.withField("search", search.terms),
    windows=bm.JoinWindows(SECOND, grace=SECOND),
    close_idle_after=5 * SECOND,
    store="views-and-searches",
)

# A second search within the second would tell the view again, and so does a browser that sends a view twice.
activities = searched.dedupe(timedelta(minutes=10), by="id", late_to="activities-late")
activities.to("activities")
