"""`brookmere demo leaderboard`: the best scores of games, in the terminal and on a web page."""
