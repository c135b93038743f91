string.dump(print)
