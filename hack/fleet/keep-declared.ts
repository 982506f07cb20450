import { existsSync } from "node:fs";
import type { FleetSpec } from "../../src/domain/fleet.ts";
import { parseFleetDocument } from "../../src/instance-provisioner/fleet-schema/parse-fleet.ts";
import { whatIsMissing } from "./what-is-missing.ts";
import { withStore } from "./with-store.ts";

/** Who changed the fleet, for the journal. */
const ACTOR = "npm run up";

/**
 * Leaves a declared fleet as it is, except for parts of `document` that this start cannot do without. Resolves with
 * what is declared then. `undefined`: nothing is declared.
 */
export async function keepDeclared(databaseUrl: string, document: unknown, signal: AbortSignal): Promise<FleetSpec | undefined> {
  const needed = parseFleetDocument(document);
  if (!needed.ok) throw new Error(needed.complaints.map(({ path, message }) => `${path}: ${message}`).join("; "));
  return withStore(
    databaseUrl,
    async ({ fleet }) => {
      const stored = await fleet.readFleet(signal);
      if (stored === undefined) return undefined;
      // A release's CRDs may also be at a URL, which is no file.
      const isThere = (path: string): boolean => path.includes("://") || existsSync(path);
      const completed = whatIsMissing(stored.spec, needed.spec, isThere);
      if (completed !== undefined) await fleet.applyFleet(completed, ACTOR, signal);
      return completed ?? stored.spec;
    },
    signal,
  );
}
