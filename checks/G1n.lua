check {
    id = "V-G1-energy",
    title = "The energy of a collapse is accounted for",
    setup = "The column of V-G1c with output { energy = true }: what its potential energy became.",
    source = "[A] conservation of energy: what is not booked is what finite steps do",
    cost = "quick", minutes = 0.2,
}
local collapse, fit = shared "collapse", shared "fit"
local run = simulate { scene = collapse.scene .. "output { energy = true }\n", set = { per_time = 2 } }
local e = measure(run, "energy", { all = true })
local n = e.rows
local lost = e.total_J[1] + e.affine_J[1] - e.total_J[n] - e.affine_J[n]
expect { what = "what finite steps did, over all that was lost", value = 100 * e.stepping_J[n] / lost, band = { -2, 2 }, unit = "%", source = "[A] closes within 2 % (eng.)" }
expect { what = "all that is booked over all that was lost", value = (e.plastic_J[n] + e.contact_J[n] + e.friction_J[n] + e.transfer_J[n]) / lost, want = 1, relative = 0.02,
         source = "[A] closes within 2 % (eng.)" }
note(string.format("Of %.1f J: plastic %.1f %%, transfers %.1f %%, contact %.2f %%, friction %.2f %%, stepping %.2f %%.", lost, 100 * e.plastic_J[n] / lost,
                   100 * e.transfer_J[n] / lost, 100 * e.contact_J[n] / lost, 100 * e.friction_J[n] / lost, 100 * e.stepping_J[n] / lost))
plot { title = "Where the energy went", x = "t [s]", y = "J",
       series = { { name = "potential", x = e.time_s, y = e.potential_J }, { name = "kinetic", x = e.time_s, y = e.kinetic_J }, { name = "plastic", x = e.time_s, y = e.plastic_J },
                  { name = "transfers", x = e.time_s, y = e.transfer_J }, { name = "stepping", x = e.time_s, y = e.stepping_J } } }
