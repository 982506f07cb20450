import type { PlanView } from "../api/routes/plans.ts";
import type { ExplanationView, InstanceExplanationView } from "../api/schema.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import { planText } from "./plan.ts";
import type { RestClient } from "./rest-client.ts";
import { paragraph } from "./table.ts";

/**
 * `argosy explain <thing>`: why a workspace is where it is, or `instance/<name>` as it is, or `plan/<id>` as it is, as sentences or
 * with all recorded facts.
 */
export async function explain(client: RestClient, thing: string, output: OutputFormat): Promise<string> {
  const [, kind, name = ""] = /^(instance|inst|plan|workspace|ws)\/(.+)$/.exec(thing) ?? [];
  if (kind === "plan") {
    const plan = await client.get<PlanView>(`/v1/plans/${encodeURIComponent(name)}`);
    const verdict = plan.holds
      ? "each choice, asked again, gives the recorded answer"
      : "SOME CHOICE DOES NOT FOLLOW FROM WHAT WAS RECORDED WITH IT";
    return isForPrograms(output) ? renderOne(plan, output) : `${planText(plan)}\n${verdict}`;
  }
  const path =
    kind === "instance" || kind === "inst"
      ? `/v1/instances/${encodeURIComponent(name)}/explanation`
      : `/v1/explain/${encodeURIComponent(kind === undefined ? thing : name)}`;
  const explanation = await client.get<ExplanationView | InstanceExplanationView>(path);
  return isForPrograms(output) ? renderOne(explanation, output) : explanation.text.map(paragraph).join("\n");
}
