import type { Network } from "../../world/network.ts";
import type { Party } from "../../world/party.ts";
import type { World } from "../../world/world.ts";
import type { KubeServer } from "./server.ts";

/** What a client needs: the party that calls, the server, and the network between them. */
export interface SimulatedLink {
  readonly world: World;
  readonly network: Network;
  readonly party: Party;
  readonly server: KubeServer;
}
