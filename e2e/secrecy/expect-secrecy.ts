import { openKube } from "../../hack/fleet/connect.ts";
import { keepSecretsOf } from "./kept-in-cluster.ts";
import { readProducts, type Traces } from "./produced.ts";
import { findSecrets, type Product, type SecretInventory } from "./secrets.ts";

const LONGEST_MS = 120_000;

/**
 * The end of every run: nothing that it produced shows a secret that it created. Rejects with what was found where.
 * Reports how much was searched, because finding nothing in nothing proves nothing.
 */
export async function expectSecrecy(
  traces: Omit<Traces, "kube"> & { readonly adminKubeconfig: string },
  inventory: SecretInventory,
): Promise<string> {
  const products = await readAll(traces, inventory);
  const secrets = inventory.all();
  const found = findSecrets(secrets, products);
  if (found.length > 0) throw new Error(`secrets were said:\n${found.join("\n")}`);
  const characters = products.reduce((sum, { text }) => sum + text.length, 0);
  return `none of ${secrets.length} secrets in ${products.length} products of ${(characters / 1e6).toFixed(1)} million characters`;
}

async function readAll(
  { adminKubeconfig, ...traces }: Parameters<typeof expectSecrecy>[0],
  inventory: SecretInventory,
): Promise<readonly Product[]> {
  const signal = AbortSignal.timeout(LONGEST_MS);
  const kube = openKube(adminKubeconfig);
  try {
    await keepSecretsOf(kube, inventory, signal);
    return await readProducts({ ...traces, kube }, signal);
  } finally {
    await kube.close();
  }
}
