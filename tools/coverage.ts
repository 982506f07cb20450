import { readFileSync } from "node:fs";
import { relative } from "node:path";
import process from "node:process";
import { coverageByRoom, gaps, type Lines, percent, type RoomCoverage, roomsBelow, sum } from "./coverage/by-room.ts";
import { runVitest } from "./vitest.ts";

/** Percent of the lines of the core files of each room. What is left are branches that only a defect reaches. */
const ENOUGH = 95;

const status = await runVitest(["--project=core", "--reporter=dot", "--coverage"], { signal: new AbortController().signal });
process.exitCode = status === "lingered" ? 1 : status;
report(readSummary());

function report(files: Readonly<Record<string, Lines>>): void {
  const rooms = coverageByRoom(files);
  const all: RoomCoverage = { room: "all core", files: rooms.reduce((count, room) => count + room.files, 0), ...sum(rooms) };
  const lines = [...rooms, all].map(
    (room) =>
      `${room.room.padEnd(22)}${String(room.files).padStart(6)}${String(room.total).padStart(8)}${percent(room).toFixed(1).padStart(9)}`,
  );
  process.stdout.write(`\nroom                   files   lines  percent\n${lines.join("\n")}\n`);
  const below = roomsBelow(rooms, ENOUGH);
  if (below.length === 0) return;
  const left = gaps(files).filter((gap) => below.some((room) => gap.startsWith(`src/${room}/`)));
  process.stdout.write(`\n${ENOUGH} % of the lines of each room's core are wanted: ${below.join(", ")}. Left out:\n${left.join("\n")}\n`);
  process.exitCode = 1;
}

/** Lines by path in the checkout, from the summary Vitest has just written. */
function readSummary(): Readonly<Record<string, Lines>> {
  const { total: _all, ...files } = JSON.parse(readFileSync("coverage/coverage-summary.json", "utf8")) as Record<string, { lines: Lines }>;
  return Object.fromEntries(Object.entries(files).map(([path, { lines }]) => [relative(process.cwd(), path), lines]));
}
