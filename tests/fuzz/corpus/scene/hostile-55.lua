os.exit(1)
