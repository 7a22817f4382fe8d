"""`brookmere replica` and `brookmere serve`: follow the stores of an application and serve them."""
