import { existsSync } from "node:fs";
import Table from "cli-table3";
import type { ApplicationView } from "../../src/api/schema.ts";
import { DEFAULT_STATE } from "../../src/cli/connection.ts";
import type { DemoState } from "../fleet/demo.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { UpContext } from "./up.ts";

const HEAD = ["WORKSPACE", "DEPLOYMENT", "INSTANCE", "SYNC", "HEALTH", "SECONDS"];

/** Prints what the demo's users see and, to somebody who stays, what to try next. */
export async function report({ options, state, progress }: UpContext, fleet: Fleet, demo: readonly DemoState[]): Promise<void> {
  const rows = await fleet.rest.all<ApplicationView>("/v1/applications");
  const table = new Table({ head: HEAD, style: { head: [], border: [] } });
  for (const entry of demo) {
    const row = rows.find((candidate) => candidate.namespace === entry.namespace && candidate.name === entry.name);
    table.push([entry.namespace, entry.name, row?.instance ?? "-", entry.sync, entry.health, entry.seconds?.toFixed(1) ?? "-"]);
  }
  progress.say(`\n${table.toString()}\n`);
  if (options.exitWhenReady) return;
  const flag = options.state === DEFAULT_STATE ? "" : ` --state ${options.state}`;
  const kubectl = state.path("bin", "kubectl");
  progress.say("Try next:");
  progress.say(`  npx argosy get instances${flag}        (workspaces, applications, operations)`);
  progress.say(`  npx argosy explain demo-anna${flag}`);
  progress.say(`  npx argosy doctor${flag}`);
  progress.say(`  ${existsSync(kubectl) ? kubectl : "kubectl"} --kubeconfig ${state.path("kubeconfig")} get gd -A`);
  progress.say("What moves much at once needs an approver. There is a token of one:");
  progress.say(`  npx argosy apply <plan>${flag} --token "$(sed -n s/^ARGOSY_APPROVER_TOKEN=//p ${options.state}/env)"`);
  progress.say(`  npx argosy token create <name> --role approver${flag}   (makes another)`);
}
