#!/usr/bin/env node
import { start } from "../tools/bootstrap/start.mjs";

await start("argosy", process.argv.slice(2));
