// What repose-bench measures besides steps.
#pragma once

void bench_render(void); // `repose-bench render`
