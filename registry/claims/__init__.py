"""Claims: what someone says of results, in a normal form that can be judged against them."""
