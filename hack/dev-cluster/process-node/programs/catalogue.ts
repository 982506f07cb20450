import type { BuiltSet } from "../../build.ts";
import { argoCdSetName, rendererSets } from "../../go-sets.ts";
import { parseImage } from "../image.ts";
import { launchArgoCd } from "./argo-cd.ts";
import { CHECKOUT, launchArgosy } from "./argosy.ts";
import { breakComponent, parseTag } from "./broken.ts";
import type { Launch, LaunchInput } from "./launch.ts";
import { launchRedis } from "./redis.ts";

/** What an image is on this machine. */
export type KnownImage =
  | {
      readonly kind: "program";
      readonly set: string;
      /** Sets whose programs it finds by name. */
      readonly beside: readonly string[];
      readonly launch: (input: LaunchInput) => Launch | undefined;
    }
  /** A program that is known in other versions only: the image cannot be pulled. */
  | { readonly kind: "absent" }
  /** Anything else: its pods are reported as running, without a process. */
  | { readonly kind: "unknown" };

export interface Catalogue {
  find(image: string): KnownImage;
  /** Builds the set or finds it built. */
  obtain(set: string, signal: AbortSignal): Promise<BuiltSet>;
}

export function createCatalogue(options: { readonly argoCdVersions: readonly string[]; readonly obtain: Catalogue["obtain"] }): Catalogue {
  const obtained = new Map<string, Promise<BuiltSet>>();
  return {
    find(image) {
      const { name, tag } = parseImage(image);
      if (name === "redis") return { kind: "program", set: "tools", beside: [], launch: launchRedis };
      if (name === "argosy") return { kind: "program", set: CHECKOUT.set, beside: [], launch: launchArgosy };
      if (name !== "argocd") return { kind: "unknown" };
      const release = tag === undefined ? undefined : parseTag(tag);
      if (release === undefined || !options.argoCdVersions.includes(release.version)) return { kind: "absent" };
      return {
        kind: "program",
        set: argoCdSetName(release.version),
        beside: rendererSets(release.version),
        launch: breakComponent(launchArgoCd, release.brokenBy),
      };
    },
    obtain(set, signal) {
      if (set === CHECKOUT.set) return Promise.resolve(CHECKOUT.built);
      const found = obtained.get(set) ?? options.obtain(set, signal);
      obtained.set(set, found);
      // A build that failed is tried again with the next request.
      found.catch(() => obtained.delete(set));
      return found;
    },
  };
}
