-- The transfers that are compared, as scenes name them, and what is asked of all of them.
local transfers = { names = { "apic", "flip", "steady" } }

-- What a scene of these checks begins with.
transfers.said = [[
local transfer = param("transfer", "steady")
if transfer == "flip" then transfer = { flip = 0.95 } end
]]

-- How far apart the largest and the smallest of some numbers are, of their mean, in per cent.
function transfers.spread(values)
    local least, most, sum = math.huge, -math.huge, 0
    for _, v in ipairs(values) do
        least, most, sum = math.min(least, v), math.max(most, v), sum + v
    end
    return 100 * (most - least) * #values / sum
end

-- "1.23 1.24": numbers for a note.
function transfers.list(values, format)
    local out = {}
    for i, v in ipairs(values) do
        out[i] = string.format(format, v)
    end
    return table.concat(out, " ")
end

return transfers
