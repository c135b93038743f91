loadfile('/etc/passwd')
