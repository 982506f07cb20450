import type { Instance } from "../../domain/instance.ts";
import type { Application } from "../../domain/workspace.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { APPLICATIONS } from "../adapters/kubernetes/types.ts";
import type { World } from "./world.ts";

interface Held extends KubeObject {
  readonly spec: { readonly source: object; readonly destination: object };
}

/** The part of an instance's controller that compares: it does so when a test says so. */
export interface PlayedController {
  /** Names of the Applications there are, sorted. */
  names(): Promise<readonly string[]>;
  /** Compares an Application as it is now, and is done with it. */
  compare(application: Pick<Application, "argoName">): Promise<void>;
}

export function playController({ hands, signal }: World, { namespace }: Pick<Instance, "namespace">): PlayedController {
  return {
    async names() {
      const { items } = await hands.engine.listPage<KubeObject>(APPLICATIONS, { namespace }, signal);
      return items.map(({ metadata }) => metadata.name).sort();
    },
    async compare({ argoName: name }) {
      const held = await hands.engine.get<Held>(APPLICATIONS, { namespace, name }, signal);
      const { source, destination } = held?.spec ?? {};
      const status = { reconciledAt: "2026-01-01T00:00:00Z", sync: { status: "Synced", comparedTo: { source, destination } } };
      const metadata = { annotations: { "argocd.argoproj.io/refresh": null } };
      await hands.engine.mergePatch(APPLICATIONS, { namespace, name }, { metadata, operation: null, status }, signal);
    },
  };
}
