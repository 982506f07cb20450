#!/usr/bin/env node
import { start } from "../tools/bootstrap/start.mjs";

// The simulation is a program of its own: what runs in production knows nothing of it.
const [first, ...rest] = process.argv.slice(2);
if (first === "simulate") await start("simulate", rest);
else await start("argosy", process.argv.slice(2));
