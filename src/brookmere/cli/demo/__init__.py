"""`brookmere demo`: a word count over a stream of sentences, live."""
