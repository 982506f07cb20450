import { parseAllDocuments } from "yaml";
import type { FleetProposalView } from "../api/fleet-views.ts";
import type { AppliedFleet } from "../api/routes/fleet.ts";
import { countText } from "../domain/count-text.ts";
import { InputError } from "../domain/errors.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import { needsText, renderProposed } from "./proposals.ts";
import type { RestClient } from "./rest-client.ts";

/** One YAML or JSON document; throws `InputError` with line and column of everything that makes it none. */
export function parseFleetText(text: string, file: string): unknown {
  const [document, ...more] = parseAllDocuments(text);
  const isOne = document !== undefined && more.length === 0;
  const problems = isOne ? document.errors.map(({ message }) => message.trimEnd()) : ["expected exactly one document"];
  if (problems.length === 0 && document !== undefined && !("empty" in document)) return document.toJS();
  throw new InputError(problems.length === 0 ? "the file is empty" : problems.join("\n"), {
    code: "cli.not-yaml",
    path: file,
    remedy: "Give one YAML document of kind Fleet",
  });
}

export interface ApplyPlanOptions {
  readonly dryRun: boolean;
  /** Let the instances of pools go that the document leaves out. */
  readonly prune: boolean;
  /** Whether the plan of a prune has been seen and agreed to. */
  readonly yes: boolean;
  readonly output: OutputFormat;
}

export interface ApplyOutcome {
  readonly text: string;
  /** shown: a prune that nobody has agreed to yet. proposed: it waits for a second person. */
  readonly state: "done" | "shown" | "proposed";
}

/**
 * `argosy apply -f fleet.yaml`: declares the fleet, or says what declaring it would change. A prune that lets instances go is
 * shown first and carried out when it is agreed to.
 */
export async function applyFleet(client: RestClient, document: unknown, options: ApplyPlanOptions): Promise<ApplyOutcome> {
  const { dryRun, prune, yes } = options;
  const put = (isDryRun: boolean) => client.put<AppliedFleet | FleetProposalView>("/v1/fleet", document, { dryRun: isDryRun, prune });
  if (prune && !dryRun && !yes) {
    const planned = await put(true);
    if (!isProposal(planned) && planned.instances.some(({ change }) => change === "retired" || change === "waits"))
      return { text: renderAnswer(planned, options), state: "shown" };
  }
  const answer = await put(dryRun);
  return { text: renderAnswer(answer, options), state: isProposal(answer) ? "proposed" : "done" };
}

function isProposal(answer: AppliedFleet | FleetProposalView): answer is FleetProposalView {
  return "expiresAt" in answer;
}

function renderAnswer(answer: AppliedFleet | FleetProposalView, { output }: ApplyPlanOptions): string {
  if (isForPrograms(output)) return renderOne(answer, output);
  return isProposal(answer) ? renderProposed(answer) : renderApplied(answer);
}

/** One line on the whole, then one for each thing that differs and each of its fields, then one for each instance concerned. */
export function renderApplied({ changed, dryRun, revision, changes, instances, lostKinds, needs }: AppliedFleet): string {
  const inForce = revision === 0 ? "none is declared yet" : `revision ${revision} is in force`;
  const head = changed ? `fleet ${dryRun ? "would change" : "changed"} (${inForce})` : `fleet unchanged (${inForce})`;
  const lines = changes.flatMap(({ path, change, fields }) => [
    `  ${MARKS[change]} ${path}`,
    ...fields.map((field) => `      ${field.path}: ${field.before} → ${field.after}`),
  ]);
  const fates = instances.map(({ instance, change, units, reason }) => `  ${instance} ${FATES[change]}${unitsText(units)}: ${reason}`);
  const lost = lostKinds.map(
    ({ group, kind, applications }) => `  ${kind} of ${group || "core"}: ${countText(applications, "application")}`,
  );
  const losses = lost.length === 0 ? [] : ["deployed now, and not allowed any more", ...lost];
  const approval = needs.length === 0 ? [] : ["needs an approver who is somebody else", ...needsText(needs)];
  return [head, ...lines, ...losses, ...(fates.length === 0 ? [] : ["instances", ...fates]), ...approval].join("\n");
}

function unitsText(units: number): string {
  return units === 0 ? "" : ` (holds ${units} ${units === 1 ? "unit" : "units"})`;
}

const MARKS: Readonly<Record<AppliedFleet["changes"][number]["change"], string>> = { added: "+", removed: "-", changed: "~" };
const FATES: Readonly<Record<AppliedFleet["instances"][number]["change"], string>> = {
  created: "is created",
  retired: "is retired",
  waits: "waits to be retired",
  recalled: "serves again",
  resized: "is resized",
  left: "is left alone",
};
