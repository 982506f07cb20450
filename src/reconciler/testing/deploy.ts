import type { Instance } from "../../domain/instance.ts";
import type { Application, PlacementUnit } from "../../domain/workspace.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { APPLICATIONS, ROLE_BINDINGS } from "../adapters/kubernetes/types.ts";
import type { World } from "./world.ts";

export type Raw = KubeObject & {
  readonly spec?: unknown;
  readonly subjects?: unknown;
  readonly rules?: readonly { readonly resourceNames?: readonly string[] }[];
  readonly data?: Readonly<Record<string, string>>;
};

/** The application `web` of the workspace in namespace `team-a`, on the instance `one`. */
export interface Deployed {
  readonly instance: Instance;
  readonly unit: PlacementUnit;
  readonly application: Application;
}

/** What tests do with a seated application, in the world of the moment. */
export function deploying(world: () => World) {
  const applicationAt = ({ instance, application }: Deployed) => ({ namespace: instance.namespace, name: application.argoName });
  return {
    applicationAt,
    async deploy(): Promise<Deployed> {
      const { rows } = world();
      const instance = await rows.addInstance("one");
      const application = await rows.addApplication("team-a", "web");
      return { instance, unit: await rows.place(application, instance.id), application };
    },
    readApplication: (deployed: Deployed) => world().hands.engine.get<Raw>(APPLICATIONS, applicationAt(deployed), world().signal),
    readOwnerBinding: () => world().hands.api.get<Raw>(ROLE_BINDINGS, { namespace: "team-a", name: "argosy-deployer" }, world().signal),
    isAcknowledged: async ({ application }: Deployed) => (await world().rows.acknowledged("application", application.id)) !== undefined,
  };
}
