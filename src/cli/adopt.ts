import { type AdoptionDeps, type AdoptionOutcome, type AdoptionRules, adoptOne, draftAdoption } from "../adoption/carry-out-adoption.ts";
import type { AdoptionStep } from "../adoption/plan-adoption.ts";
import type { AdoptedCluster, AdoptingFleet } from "../adoption/port.ts";
import type { AdoptionRulesView } from "../api/routes/adoptions.ts";
import type { ApplicationView } from "../api/schema.ts";
import { RefusedError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import { isWorkspace } from "../workspace/workspace-policy.ts";
import { type OutputFormat, render } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, cellText } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface AdoptOptions {
  readonly dryRun?: boolean;
  readonly output: OutputFormat;
}

/** The address every pod has of the cluster it is in. */
const IN_CLUSTER = "https://kubernetes.default.svc";
/** What was begun with one Application is brought to its end: an interruption counts before the next one. */
const NEVER = new AbortController().signal;
const OBSERVE_EVERY_MS = 200;

export const adoptionColumns: readonly Column<AdoptionOutcome>[] = [
  { title: "APPLICATION", value: (row) => row.name, fit: "name" },
  { title: "VERDICT", value: (row) => row.verdict },
  { title: "WHY", value: (row) => row.text, fit: "text" },
];

/** `argosy adopt <namespace>`: takes the Applications of an Argo CD over, one by one. `isWhole`: none was refused. */
export async function adopt(
  client: RestClient,
  source: { readonly namespace: string; readonly cluster: AdoptedCluster; readonly server: string },
  { dryRun = false, output }: AdoptOptions,
  terminal: Pick<Terminal, "note" | "interrupted">,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const signal = terminal.interrupted();
  const deps: AdoptionDeps = { cluster: source.cluster, fleet: fleetOf(client) };
  const steps = await draftAdoption(deps, { namespace: source.namespace, rules: await rulesOf(client, source.server) }, signal);
  const outcomes: AdoptionOutcome[] = [];
  for (const step of steps) {
    if (dryRun) outcomes.push(draftOf(step));
    else if (signal.aborted)
      outcomes.push({ name: step.name, verdict: "refused", text: "not attempted: interrupted; run the command again" });
    else {
      const outcome = await adoptOne(step, source.namespace, deps, NEVER);
      outcomes.push(outcome);
      terminal.note(cellText(`${outcomes.length} of ${steps.length}: ${outcome.name} ${outcome.verdict}, ${outcome.text}`));
    }
  }
  if (output === "table") terminal.note(summaryOf(outcomes, dryRun));
  return { text: render(outcomes, adoptionColumns, output), isWhole: outcomes.every(({ verdict }) => verdict !== "refused") };
}

function summaryOf(outcomes: readonly AdoptionOutcome[], isDraft: boolean): string {
  const count = (verdict: AdoptionOutcome["verdict"]): number => outcomes.filter((one) => one.verdict === verdict).length;
  const stays = count("refused");
  const left = stays === 0 ? "nothing is left to that Argo CD" : `${stays} left to that Argo CD`;
  return `${count("adopted")} ${isDraft ? "would be adopted" : "adopted"}, ${count("stands")} stood already, ${left}${isDraft ? "; nothing was done" : ""}`;
}

function draftOf(step: AdoptionStep): AdoptionOutcome {
  const { name } = step;
  if (step.verdict === "refuse") return { name, verdict: "refused", text: step.refusal.text };
  const what = `GitOpsDeployment ${step.namespace}/${name}`;
  if (step.verdict === "stand") return { name, verdict: "stands", text: `it is ${what}` };
  return {
    name,
    verdict: "adopted",
    text: step.verdict === "import" ? `would become ${what}` : `${what} is there; what is left would be done`,
  };
}

async function rulesOf(client: RestClient, server: string): Promise<AdoptionRules> {
  const { selector, everyNamespace, allowedGroups, refusedGroups, ...rules } = await client.get<AdoptionRulesView>("/v1/adoptions/rules");
  const policy = { selector, everyNamespace, instanceNamespaces: new Set(rules.instanceNamespaces) };
  return {
    ...rules,
    servers: [IN_CLUSTER, server],
    kinds: { allowedGroups, refusedGroups },
    known: await client.all<ApplicationView>("/v1/applications"),
    isWorkspace: (namespace) => isWorkspace(namespace, policy),
  };
}

function fleetOf(client: RestClient): AdoptingFleet {
  return {
    keepName: async (name) => void (await client.post("/v1/adoptions", name)),
    async takes({ namespace, name, argoName, waitMs }) {
      const deadline = systemClock.monotonicMs() + waitMs;
      for (;;) {
        const found = (await client.all<ApplicationView>("/v1/applications", { namespace, name })).find(({ deleting }) => !deleting);
        if (found !== undefined && found.argoName !== argoName)
          throw new RefusedError(`${namespace}/${name} has the name ${found.argoName} in Argo CD, and is the fleet's under that`, {
            code: "adoption.late",
          });
        if (found !== undefined) return true;
        if (systemClock.monotonicMs() > deadline) return false;
        await new Promise((resolve) => setTimeout(resolve, OBSERVE_EVERY_MS));
      }
    },
  };
}
