"""`brookmere demo leaderboard`: the best scores of some games, in the terminal and on a page."""
