dofile('/etc/passwd')
