Lua
