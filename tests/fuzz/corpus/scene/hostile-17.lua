string.format('%99999d', 1)
