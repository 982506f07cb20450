import type { Measure } from "../measure.ts";
import { burst } from "./burst.ts";
import { changes } from "./changes.ts";
import { creation } from "./creation.ts";
import { flood } from "./flood.ts";
import { idle } from "./idle.ts";
import { memory } from "./memory.ts";
import { neighbour } from "./neighbour.ts";
import { status } from "./status.ts";
import { statusRows } from "./status-rows.ts";
import { wrongTokens } from "./wrong-tokens.ts";

/** In the order in which they run. Measures that leave something to clean up come last. */
export const MEASURES: readonly Measure[] = [statusRows, wrongTokens, idle, creation, changes, status, neighbour, burst, memory, flood];
