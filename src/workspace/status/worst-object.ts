import type { EngineStatus, ResourceStatus } from "../../domain/status.ts";

/** From bad to worse, as Argo CD orders what it says of a whole application. */
const ORDER = ["Healthy", "Suspended", "Progressing", "Missing", "Degraded", "Unknown"];

type Objects = Pick<EngineStatus, "health" | "resources" | "comparedTo">;

/**
 * Which object makes an application's health what it is, and why: `Deployment web is Degraded: …; 2 more objects are not healthy`. The first
 * that says something of those that are as bad as the whole; `undefined` where none is, as after a mere change of the whole.
 */
export function worstObjectText({ health, resources, comparedTo }: Objects): string | undefined {
  const culprits = resources.filter((each) => each.health?.status === health.status);
  const worst = culprits.find((each) => (each.health?.message ?? "") !== "") ?? culprits[0];
  if (worst === undefined) return undefined;
  const others = resources.filter((each) => each !== worst && isWrong(each, health.status)).length;
  const more = others === 0 ? "" : `; ${others} more ${others === 1 ? "object is" : "objects are"} not healthy: see status.resources`;
  const where = worst.namespace === "" || worst.namespace === comparedTo.namespace ? "" : ` in namespace ${worst.namespace}`;
  const why = worst.health?.message ?? "";
  return `${worst.kind} ${worst.name}${where} is ${health.status}${why === "" ? "" : `: ${why}`}${more}`;
}

/** What is suspended is so because somebody wants it, unless that is all there is to tell. */
function isWrong({ health }: ResourceStatus, whole: string): boolean {
  return ORDER.indexOf(health?.status ?? "Healthy") >= Math.min(ORDER.indexOf(whole), ORDER.indexOf("Progressing"));
}
