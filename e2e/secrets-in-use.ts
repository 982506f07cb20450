import { callHarness } from "./harness-client.ts";
import { ownHarness } from "./own-harness.ts";

/** Records a secret that a test has created, and returns it. From then on it must not be written anywhere. */
export async function keepSecret(what: string, value: string): Promise<string> {
  await callHarness(ownHarness(), "keepSecret", { what, value });
  return value;
}
