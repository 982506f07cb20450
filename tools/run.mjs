// Plain JavaScript, like all of bootstrap/: it must start on whatever Node.js (20 or newer) a machine has.
import { start } from "./bootstrap/start.mjs";

await start(process.argv[2], process.argv.slice(3));
