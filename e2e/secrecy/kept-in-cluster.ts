import { parse } from "yaml";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import type { SecretInventory } from "./secrets.ts";

type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };

const SECRET: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

/** Fields of Secrets that are secret as a whole, and those that are documents with secrets in them. */
const WHOLE = /^(password|token|bearerToken|sshPrivateKey|ssh-privatekey|auth|server\.secretkey|admin\.password|tls\.key)$/;
const DOCUMENTS = /^(kubeconfig|config)$/;
const INNER = /^(token|bearerToken|password|client-key-data|keyData)$/;
const SHORTEST = 12;

/** Adds the content of the cluster's Secrets to the inventory: users', ours and the instances'. */
export async function keepSecretsOf(kube: KubeClient, inventory: SecretInventory, signal: AbortSignal): Promise<void> {
  const { items } = await kube.listPage<SecretObject>(SECRET, {}, signal);
  for (const { metadata, data = {} } of items)
    for (const [field, encoded] of Object.entries(data)) {
      const text = Buffer.from(encoded, "base64").toString();
      const values = WHOLE.test(field) ? [text] : DOCUMENTS.test(field) ? innerOf(text) : [];
      // A wrong password that a test writes may be short; random ones are not.
      for (const value of values.filter(({ length }) => length >= SHORTEST))
        inventory.keep(`${field} of Secret ${metadata.namespace}/${metadata.name}`, value);
    }
}

/** Secret values anywhere in a document: as text and, where that is base64 of a key, decoded too. */
function innerOf(document: string): readonly string[] {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    for (const [key, inner] of Object.entries(value))
      if (typeof inner !== "string") walk(inner);
      else if (INNER.test(key)) found.push(...(/-data$|Data$/.test(key) ? [Buffer.from(inner, "base64").toString()] : [inner]));
  };
  try {
    walk(parse(document));
  } catch {
    // Some stories write text that is no document.
  }
  return found;
}
