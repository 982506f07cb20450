import { type Clock, rfc3339 } from "../domain/clock.ts";
import type { CertificateAuthority } from "../domain/engine.ts";
import type { Instance } from "../domain/instance.ts";
import type { CredentialStore } from "../store/credential/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { CertificateStep, SecretPurpose, StoredCertificates } from "./instance-secrets.ts";
import {
  engineCertificates,
  nextCertificateStep,
  parseCertificates,
  SECRET_PURPOSES,
  secretKeyOf,
  validityAt,
} from "./instance-secrets.ts";
import { repoServerNames } from "./manifests/names.ts";
import type { InstanceSecrets } from "./manifests/parameters.ts";
import type { SecretMaker } from "./port.ts";

type Keeping = Pick<Instance, "id" | "namespace" | "name">;

export interface SecretKeeper {
  /** The instance's stored secrets. Missing ones are created, and certificates are renewed in time. */
  read(instance: Keeping, signal: AbortSignal): Promise<InstanceSecrets>;
  /** Deletes the secrets of an instance that is gone. */
  remove(instance: Pick<Instance, "id">, signal: AbortSignal): Promise<void>;
}

export interface SecretKeeperDeps {
  readonly credentials: CredentialStore;
  readonly maker: SecretMaker;
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates an instance's secrets once and stores them, so that a second creation of the instance changes nothing. */
export function createSecretKeeper({ credentials, maker, clock, log }: SecretKeeperDeps): SecretKeeper {
  /** Where two processes create a secret at the same time, the first one stored wins and both use it. */
  const random = async ({ id }: Pick<Instance, "id">, purpose: SecretPurpose, signal: AbortSignal): Promise<string> => {
    const key = secretKeyOf(id, purpose);
    return (await credentials.read(key, signal)) ?? credentials.putIfAbsent(key, maker.randomText(), signal);
  };
  const authority = (): CertificateAuthority => {
    const validity = validityAt(clock.now(), "authority");
    return { ...maker.authority(validity), madeAt: clock.now(), notAfter: validity.until };
  };
  const signed = (by: CertificateAuthority, namespace: string): StoredCertificates => {
    const validity = validityAt(clock.now(), "certificate");
    const pairs = maker.certificates(by, repoServerNames(namespace), validity);
    return { authority: by.certificate, ...pairs, notAfter: validity.until, madeAt: clock.now(), next: authority() };
  };
  /** What comes after what is stored. */
  const following = (
    stored: StoredCertificates,
    step: Exclude<CertificateStep, { kind: "keep" }>,
    namespace: string,
  ): StoredCertificates => {
    if (step.kind === "announce") return { ...stored, next: authority() };
    return { ...signed(step.kind === "renew" ? step.authority : authority(), namespace), previous: stored.authority };
  };
  const certificates = async ({ id, namespace, name }: Keeping, signal: AbortSignal): Promise<StoredCertificates> => {
    const key = secretKeyOf(id, "argo-cd-certificates");
    const text = await credentials.read(key, signal);
    const stored = parseCertificates(text);
    if (stored === undefined) {
      const made = signed(authority(), namespace);
      // Pods with certificates of different authorities do not accept each other, so the first one stored wins here too.
      const first = text === undefined ? parseCertificates(await credentials.putIfAbsent(key, JSON.stringify(made), signal)) : undefined;
      if (first === undefined) await credentials.put(key, JSON.stringify(made), signal);
      return first ?? made;
    }
    const step = nextCertificateStep(stored, id, clock.now());
    if (step.kind === "keep") return stored;
    const made = following(stored, step, namespace);
    await credentials.put(key, JSON.stringify(made), signal);
    log.info({ instance: name, step: step.kind, notAfter: rfc3339(made.notAfter) }, "Renewing the certificates of an instance");
    return made;
  };
  return {
    read: async (instance, signal) => ({
      serverSecretKey: await random(instance, "argo-cd-server-key", signal),
      redisPassword: await random(instance, "argo-cd-redis-password", signal),
      certificates: engineCertificates(await certificates(instance, signal)),
    }),
    async remove({ id }, signal) {
      for (const purpose of SECRET_PURPOSES) await credentials.remove(secretKeyOf(id, purpose), signal);
    },
  };
}
