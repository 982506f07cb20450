import type { Clock } from "../domain/clock.ts";
import type { Instance } from "../domain/instance.ts";
import type { CredentialStore } from "../store/credential/port.ts";
import type { SecretPurpose } from "./instance-secrets.ts";
import { isValidFor, parseCertificates, SECRET_PURPOSES, secretKeyOf, validityAt } from "./instance-secrets.ts";
import { repoServerNames } from "./manifests/names.ts";
import type { InstanceSecrets } from "./manifests/parameters.ts";
import type { SecretMaker } from "./port.ts";

export interface SecretKeeper {
  /** The instance's stored secrets. Missing ones are created, and certificates that expire soon are renewed. */
  read(instance: Pick<Instance, "id" | "namespace">, signal: AbortSignal): Promise<InstanceSecrets>;
  /** Deletes the secrets of an instance that is gone. */
  remove(instance: Pick<Instance, "id">, signal: AbortSignal): Promise<void>;
}

export interface SecretKeeperDeps {
  readonly credentials: CredentialStore;
  readonly maker: SecretMaker;
  readonly clock: Clock;
}

/** Creates an instance's secrets once and stores them, so that a second creation of the instance changes nothing. */
export function createSecretKeeper({ credentials, maker, clock }: SecretKeeperDeps): SecretKeeper {
  /** Where two processes create a secret at the same time, the first one stored wins and both use it. */
  const random = async ({ id }: Pick<Instance, "id">, purpose: SecretPurpose, signal: AbortSignal): Promise<string> => {
    const key = secretKeyOf(id, purpose);
    return (await credentials.read(key, signal)) ?? credentials.putIfAbsent(key, maker.randomText(), signal);
  };
  const certificates = async (
    instance: Pick<Instance, "id" | "namespace">,
    signal: AbortSignal,
  ): Promise<InstanceSecrets["certificates"]> => {
    const key = secretKeyOf(instance.id, "argo-cd-certificates");
    const text = await credentials.read(key, signal);
    const stored = parseCertificates(text);
    if (isValidFor(stored, clock.now())) return stored;
    const made = maker.certificates(repoServerNames(instance.namespace), validityAt(clock.now()));
    // Pods with certificates of different authorities do not accept each other, so the first one stored wins here too.
    const first = text === undefined ? parseCertificates(await credentials.putIfAbsent(key, JSON.stringify(made), signal)) : undefined;
    if (first !== undefined) return first;
    await credentials.put(key, JSON.stringify(made), signal);
    return made;
  };
  return {
    read: async (instance, signal) => ({
      serverSecretKey: await random(instance, "argo-cd-server-key", signal),
      redisPassword: await random(instance, "argo-cd-redis-password", signal),
      certificates: await certificates(instance, signal),
    }),
    async remove({ id }, signal) {
      for (const purpose of SECRET_PURPOSES) await credentials.remove(secretKeyOf(id, purpose), signal);
    },
  };
}
