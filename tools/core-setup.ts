import { afterAll, afterEach } from "vitest";
import { refuseNetwork, takeRefused } from "./no-network.ts";

refuseNetwork();

/** A test whose code takes the error for a bad network is red all the same, and so is a file that asks outside of its tests. */
function expectNothingRefused(): void {
  const [first] = takeRefused();
  if (first !== undefined) throw new Error(first);
}

afterEach(expectNothingRefused);
afterAll(expectNothingRefused);
