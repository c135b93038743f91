io.open('/etc/passwd')
