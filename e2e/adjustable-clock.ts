import { readFileSync, rmSync } from "node:fs";
import process from "node:process";

/**
 * Loaded before a control plane process: SIGUSR2 sets its wall clock as far from the machine's as a file says, and removes the file.
 * As with a real clock that is set, timers and the monotonic clock go on as they did.
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
