import { NAMESPACES } from "../../runtime/kube/namespaces.ts";
import type { World } from "./world.ts";

type Scene = Pick<World, "server" | "hands" | "signal" | "namespace">;

const JANE = { namespace: "", name: "jane" };

export async function namespaceUid({ hands, signal }: Scene): Promise<string> {
  return (await hands.get(NAMESPACES, JANE, signal))?.metadata.uid ?? "";
}

interface Behind {
  /** Makes jane's namespace anew. */
  renew(): Promise<void>;
  /** Whether somebody has read the namespace of that name, default jane's, since it was made anew, if it was. */
  isAsked(name?: string): boolean;
  /** The delayed reports arrive. */
  arrive(): void;
}

/** From now on nobody hears of what becomes of namespaces. */
export function behindOnNamespaces(scene: Scene): Behind {
  const { server, hands, signal } = scene;
  const arrive = server.faults.hold({ path: /\/namespaces\?.*watch=true/, times: 1_000 });
  let renewedAt = 0;
  server.faults.resetWatches();
  return {
    arrive,
    async renew() {
      await hands.delete(NAMESPACES, JANE, {}, signal);
      await scene.namespace("jane");
      renewedAt = server.requests().length;
    },
    isAsked: (name = JANE.name) =>
      server.requests().some(({ method, url }, at) => at >= renewedAt && method === "GET" && url.endsWith(`/namespaces/${name}`)),
  };
}
