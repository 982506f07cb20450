import { LABEL_UNIT } from "../../../domain/names.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import { parseSight, type Sight } from "../../../shard/parse-sight.ts";
import type { Sights } from "../../port.ts";
import { conditionalWrites } from "./conditional-writes.ts";

const APPLICATIONS: ResourceType = {
  ...{ group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true },
};
const PAGE = 100;

/** Reads past every cache: a move decides from what is there. */
export function createSights(client: KubeClient): Sights {
  return {
    ...conditionalWrites(client, APPLICATIONS),
    async list({ namespace, unitId }, signal) {
      const sights: Sight[] = [];
      let continueToken: string | undefined;
      do {
        const from = continueToken === undefined ? {} : { continueToken };
        const options = { namespace, labelSelector: `${LABEL_UNIT}=${unitId}`, limit: PAGE, ...from };
        const page = await client.listPage<unknown>(APPLICATIONS, options, signal);
        sights.push(...page.items.flatMap((raw) => parseSight(raw) ?? []));
        continueToken = page.continueToken;
      } while (continueToken !== undefined);
      return sights.sort((a, b) => (a.at.name < b.at.name ? -1 : 1));
    },
  };
}
