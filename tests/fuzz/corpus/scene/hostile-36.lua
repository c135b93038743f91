getmetatable('').__index = nil
