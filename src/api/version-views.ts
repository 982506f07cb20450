import { z } from "zod";
import { type Millis, rfc3339 } from "../domain/clock.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import type { FrozenVersion } from "../domain/rollout.ts";
import { compareVersions, isBelowFloor } from "../domain/version.ts";

const VERSION_STATES = ["default", "supported", "frozen", "below-floor", "unknown"] as const;

export const versionView = z
  .object({
    version: z.string(),
    state: z
      .enum(VERSION_STATES)
      .describe(
        "frozen: it failed, and is given to nobody; below-floor: it is not safe; unknown: instances run it, and the catalogue does not have it",
      ),
    channels: z.array(z.string()).describe("that have it, sorted"),
    defaultOf: z.array(z.string()).describe("channels whose new instances get it, sorted"),
    image: z.string().nullable(),
    upgradesFrom: z
      .array(z.string())
      .nullable()
      .describe("releases and minors from which the way was tested; null: its own minor and the one before"),
    instances: z.array(z.string()).describe("names of those that run it, sorted"),
    upgrading: z.array(z.string()).describe("names of those that are to run it and do not yet, sorted"),
    frozen: z
      .object({ rollout: z.string(), reason: z.string(), at: z.iso.datetime() })
      .nullable()
      .describe("the rollout that failed with it"),
  })
  .meta({ id: "Version" });
export type VersionView = z.infer<typeof versionView>;

/** Every release that is catalogued, runs or is frozen, newest first. */
export function versionViews(
  spec: FleetSpec | undefined,
  rows: readonly Instance[],
  frozen: readonly FrozenVersion[],
): readonly VersionView[] {
  const instances = rows.filter(({ state }) => state !== "RETIRED");
  const catalogue = spec?.versions.catalogue ?? [];
  const all = [...catalogue, ...frozen].map(({ version }) => version);
  const versions = [...new Set([...all, ...instances.flatMap((one) => [one.version, one.desiredVersion])])];
  return versions
    .toSorted((a, b) => compareVersions(b, a) || (a < b ? -1 : 1))
    .map((version) => {
      const entry = catalogue.find((one) => one.version === version);
      const failed = frozen.find((one) => one.version === version);
      const channels = spec?.versions.channels ?? [];
      return {
        version,
        state: stateOf({ version, spec, isCatalogued: entry !== undefined, isFrozen: failed !== undefined }),
        channels: namesOf(channels.filter((channel) => channel.versions.includes(version))),
        defaultOf: namesOf(channels.filter((channel) => channel.default === version)),
        image: entry?.image ?? null,
        upgradesFrom: entry?.upgradesFrom === undefined ? null : [...entry.upgradesFrom],
        instances: namesOf(instances.filter((one) => one.version === version)),
        upgrading: namesOf(instances.filter((one) => one.desiredVersion === version && one.version !== version)),
        frozen: failed === undefined ? null : { rollout: failed.rollout, reason: failed.reason, at: rfc3339(failed.at as Millis) },
      };
    });
}

interface Facts {
  readonly version: string;
  readonly spec: FleetSpec | undefined;
  readonly isCatalogued: boolean;
  readonly isFrozen: boolean;
}

function stateOf({ version, spec, isCatalogued, isFrozen }: Facts): VersionView["state"] {
  if (isFrozen) return "frozen";
  if (!isCatalogued || spec === undefined) return "unknown";
  if (isBelowFloor(version, spec.versions.floor)) return "below-floor";
  return version === spec.versions.default ? "default" : "supported";
}

function namesOf(named: readonly { readonly name: string }[]): string[] {
  return named.map(({ name }) => name).sort();
}

/** Where a fleet asks for a release that failed: nobody is to be given it. */
export function frozenComplaints(
  { versions, pools }: FleetSpec,
  frozen: readonly FrozenVersion[],
): readonly { readonly path: string; readonly message: string; readonly remedy: string }[] {
  const asked = [
    { path: "versions.default", version: versions.default },
    ...(versions.channels ?? []).map((channel, index) => ({ path: `versions.channels[${index}].default`, version: channel.default })),
    ...pools.map(({ version }, index) => ({ path: `pools[${index}].version`, version })),
  ];
  return asked.flatMap(({ path, version }) => {
    const failed = frozen.find((one) => one.version === version);
    if (failed === undefined) return [];
    const remedy = `Name another release, or let it be tried again with argosy rollout unfreeze ${failed.version}`;
    return [{ path, message: `is frozen: ${failed.version} failed (${failed.reason})`, remedy }];
  });
}
