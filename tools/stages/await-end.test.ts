import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { awaitEnd } from "./await-end.ts";

describe("the end of a process that writes a report", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "argosy-end-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const endOf = (script: string, graceMs: number) => {
    const reportFile = join(directory, "report.json");
    const child = spawn(process.execPath, [
      "-e",
      `const write = () => require("fs").writeFileSync(${JSON.stringify(reportFile)}, "{}"); ${script}`,
    ]);
    return awaitEnd(child, { reportFile, graceMs });
  };

  it("is its status, with a report or without", async () => {
    expect(await endOf("write(); process.exit(3)", 60_000)).toBe(3);
    expect(await endOf("process.exit(0)", 60_000)).toBe(0);
  });

  it("is brought about when it does not come after the report", async () => {
    expect(await endOf("write(); for (;;);", 300)).toBe("lingered");
  });
});
