import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import process from "node:process";
import { isCoreFile, roomOf } from "./core-files.ts";

/** Changes the core of one room in every way Stryker knows and counts the changes its tests do not notice. */
const [room, ...args] = process.argv.slice(2);
const core = globSync("src/**/*.ts").filter(isCoreFile).sort();
const mutate = core.filter((path) => roomOf(path) === room);

if (room === undefined || mutate.length === 0) {
  process.stdout.write(`npm run mutation -- <room>, where room is one of ${[...new Set(core.map(roomOf))].join(", ")}\n`);
  process.exitCode = 1;
} else {
  const env = { ...process.env, ARGOSY_ROOM: room, ARGOSY_MUTATE: mutate.join(",") };
  const child = spawn(process.execPath, ["node_modules/@stryker-mutator/core/bin/stryker.js", "run", ...args], { stdio: "inherit", env });
  const [status] = (await once(child, "exit")) as [number | null];
  process.exitCode = status ?? 1;
}
