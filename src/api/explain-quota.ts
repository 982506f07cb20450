import type { z } from "zod";
import { countText } from "../domain/count-text.ts";
import type { Directive } from "../domain/directive.ts";
import type { WorkspacesSpec } from "../domain/fleet.ts";
import { judgedClasses, quotaOfClasses } from "../domain/quota.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import type { quotaView } from "./schema.ts";

export type QuotaView = z.infer<typeof quotaView>;

export interface QuotaFacts {
  readonly units: readonly Pick<PlacementUnit, "class" | "wantedClass">[];
  readonly directive: Pick<Directive, "assigned">;
}

/**
 * What a workspace may have, by the classes that its users are judged by: those that its units have and are to have, or while it has no unit the one
 * that was assigned. Labels of its namespace are recorded nowhere: of a workspace without either, what is declared for all is shown.
 */
export function explainQuota(declared: WorkspacesSpec, { units, directive: { assigned } }: QuotaFacts): QuotaView {
  const recorded = units.flatMap((unit) => [unit.class, unit.wantedClass ?? unit.class]);
  const classes = judgedClasses({ classes: [...new Set(recorded)].sort(), assigned: assigned?.class });
  const { deployments, syncsPerMinute, environments, environmentObjects } = quotaOfClasses(declared, classes);
  const shares = (declared.cpuShares ?? []).filter((one) => units.some((unit) => unit.class === one.class)).map(({ share }) => share);
  return {
    classes: [...classes],
    ...{ deployments, syncsPerMinute, environments, environmentObjects: environmentObjects ?? null },
    cpuShare: shares.length === 0 ? null : Math.min(...shares),
  };
}

/** The same as a sentence. */
export function quotaText(quota: QuotaView): string {
  const { classes, deployments, syncsPerMinute, environments, environmentObjects, cpuShare } = quota;
  const objects = environmentObjects === null ? "" : ` of at most ${countText(environmentObjects, "object")} each`;
  const cpu = cpuShare === null ? "" : `, and is reported when it takes more than ${Math.round(cpuShare * 100)} % of an instance's CPU`;
  const numbers = `may have ${countText(deployments, "deployment")} and ${countText(environments, "environment")}${objects}, and begin ${countText(syncsPerMinute, "sync")} a minute`;
  return `${numbers}${byText(classes)}${cpu}`;
}

function byText(classes: readonly string[]): string {
  if (classes.length === 0) return ", unless its first deployment gets a class with a quota of its own";
  return classes.length === 1 ? ` (class ${classes.join()})` : ` (the smaller of each, between the classes ${classes.join(" and ")})`;
}
