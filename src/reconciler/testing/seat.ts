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
export interface Seated {
  readonly instance: Instance;
  readonly unit: PlacementUnit;
  readonly application: Application;
}

/** What tests do with a seated application, in the world of the moment. */
export function seating(world: () => World) {
  const applicationAt = ({ instance, application }: Seated) => ({ namespace: instance.namespace, name: application.argoName });
  return {
    applicationAt,
    async seat(): Promise<Seated> {
      const { rows } = world();
      const instance = await rows.addInstance("one");
      const application = await rows.addApplication("team-a", "web");
      return { instance, unit: await rows.place(application, instance.id), application };
    },
    readApplication: (seated: Seated) => world().hands.engine.get<Raw>(APPLICATIONS, applicationAt(seated), world().signal),
    readRegister: () => world().hands.api.get<Raw>(ROLE_BINDINGS, { namespace: "team-a", name: "argosy-deployer" }, world().signal),
    isAcknowledged: async ({ application }: Seated) => (await world().rows.acknowledged("application", application.id)) !== undefined,
  };
}
