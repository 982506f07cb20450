import type { Network } from "../../world/network.ts";
import type { Party } from "../../world/party.ts";
import type { World } from "../../world/world.ts";
import type { KubeServer } from "./server.ts";

/** Who speaks to which server over which network. */
export interface SimulatedLink {
  readonly world: World;
  readonly network: Network;
  readonly party: Party;
  readonly server: KubeServer;
}
