require('os').exit(1)
