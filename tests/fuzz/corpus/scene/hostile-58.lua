collectgarbage('stop')
