import process from "node:process";
import { createInterface } from "node:readline/promises";
import { installObjects } from "../../../src/cli/install/render.ts";
import { InputError } from "../../../src/domain/errors.ts";
import { DEMO } from "../../fleet/demo.ts";
import type { Progress } from "../progress.ts";

/**
 * Shows what would be created on an existing cluster, and asks. Throws `InputError` when the answer is no or there is
 * nobody to ask.
 */
export async function consent(server: string, progress: Progress, signal: AbortSignal): Promise<void> {
  progress.say(`\nThis would create on ${server}:`);
  for (const line of objectsToCreate()) progress.say(`  ${line}`);
  const refusal = { code: "up.consent", path: "--kubeconfig" } as const;
  if (process.stdin.isTTY !== true)
    throw new InputError("nothing was created, because nobody is here to ask", { ...refusal, remedy: "Add --yes to create these objects" });
  const asker = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C arrives at readline as a key, not as a signal to this process. Ctrl-D closes it without an answer.
  asker.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const closed = new Promise<string>((resolve) => asker.once("close", () => resolve("")));
  const answer = await Promise.race([asker.question("Create them? [y/N] ", { signal }), closed]).finally(() => asker.close());
  if (answer === "") progress.say("");
  if (!/^y(es)?$/i.test(answer.trim())) throw new InputError("nothing was created", { ...refusal, remedy: "Answer y, or add --yes" });
}

function objectsToCreate(): readonly string[] {
  const named = installObjects("both").map(
    ({ kind, metadata }) => `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`,
  );
  const namespaces = [...new Set(DEMO.map((entry) => entry.namespace))];
  return [
    ...named,
    "Argo CD's CustomResourceDefinitions (argoproj.io)",
    "Namespace argosy-standard-1 and argosy-standard-2, each with an Argo CD instance",
    ...namespaces.map((namespace) => `Namespace ${namespace} with demo deployments`),
  ];
}
