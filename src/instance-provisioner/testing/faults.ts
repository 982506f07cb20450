import { UnavailableError } from "../../domain/errors.ts";

/** Wraps the ports of a controller. All methods of a port are asynchronous. */
export type Through = <Port extends object>(port: Port) => Port;

export type FaultKind = "fails once" | "succeeds, and the process ends before it knows";

export interface Fault {
  readonly through: Through;
  /** Whether the call that it was set for has been made. */
  hasStruck(): boolean;
}

/** A fault at the `at`-th call (from 0), counted over all ports. */
export function faultAt(at: number, kind: FaultKind): Fault {
  let calls = 0;
  let isDead = false;
  const away = () => new UnavailableError("Calling a port in a test", { code: "test.fault", context: { at, kind } });
  const call = async (run: () => Promise<unknown>): Promise<unknown> => {
    const mine = calls++;
    if (isDead || (mine === at && kind === "fails once")) throw away();
    const result = await run();
    if (mine !== at) return result;
    isDead = true;
    throw away();
  };
  return {
    through: (port) => {
      const entries = Object.entries(port).map(([name, method]) => [
        name,
        typeof method === "function" ? (...args: unknown[]) => call(() => method(...args)) : method,
      ]);
      return Object.fromEntries(entries);
    },
    hasStruck: () => calls > at,
  };
}
