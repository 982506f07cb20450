import type { Decision, DecisionDetails } from "./decision.ts";
import { asString, type Json } from "./json.ts";

/** Members of {@link DecisionDetails} that are texts wherever they are. */
const TEXTS = ["reason", "actor", "name", "namespace", "from", "to", "move", "plan"] as const;

/** What the reason was called in entries that were written before every kind of decision called it so; the newest name first. */
const FORMER_REASONS = ["text", "why"] as const;

/**
 * An entry of the journal as it was stored, whichever version wrote it. The reason has one name, whatever it was called then; a named
 * member that says nothing (null, or of another type than it has) is absent. All other facts are left as they are.
 */
export function parseDecision(stored: Omit<Decision, "details"> & { readonly details: Json }): Decision {
  const kept = Object.entries(stored.details).filter(([name]) => !isFormer(name, stored.details) && !isText(name));
  const texts = TEXTS.flatMap((name) => {
    const value = stored.details[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const reason = reasonOf(stored.details);
  const details: DecisionDetails = { ...Object.fromEntries(kept), ...Object.fromEntries(texts), ...(reason === "" ? {} : { reason }) };
  return { ...stored, details };
}

function reasonOf(details: Json): string {
  const former = FORMER_REASONS.map((name) => asString(details[name])).find((text) => text !== "");
  return asString(details["reason"]) || (former ?? "");
}

/** A fact of another type that happens to have the name is kept. */
function isFormer(name: string, details: Json): boolean {
  return FORMER_REASONS.some((former) => former === name) && typeof details[name] === "string";
}

function isText(name: string): boolean {
  return TEXTS.some((text) => text === name);
}
