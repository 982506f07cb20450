import { readFileSync, rmSync } from "node:fs";
import process from "node:process";

/**
 * Loaded before a control plane process. On SIGUSR2 it sets the process's wall clock as far from the machine's as a
 * file says, and removes the file. Timers and the monotonic clock go on as before, as when a real clock is set.
 */
const file = process.env["ARGOSY_E2E_CLOCK"] ?? "";
const SystemDate = Date;
let aheadMs = 0;

class AdjustableDate extends SystemDate {
  constructor(...args: unknown[]) {
    super(...((args.length === 0 ? [AdjustableDate.now()] : args) as [number]));
  }

  static override now(): number {
    return SystemDate.now() + aheadMs;
  }
}

if (file !== "") {
  globalThis.Date = AdjustableDate as DateConstructor;
  process.on("SIGUSR2", () => {
    aheadMs = Number(readFileSync(file, "utf8"));
    rmSync(file);
  });
}
