import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KeyPair } from "../../src/runtime/certificate.ts";
import { createAuthority, createSigningKey, issueClient, issueServer } from "./x509.ts";

/** Certificates of one API server, as files and, for the administrator, as text. */
export interface Pki {
  readonly ca: string;
  readonly admin: KeyPair;
  readonly controllerManager: KeyPair;
  readonly scheduler: KeyPair;
  /** Certificate and key of the API server. */
  readonly server: KeyPair;
  path(file: PkiFile): string;
}

export type PkiFile = "ca.crt" | "server.crt" | "server.key" | "service-account.key" | "service-account.pub";

const serverNames = [
  "127.0.0.1",
  "localhost",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

/** Creates the certificates in `directory`, or reads existing ones: kubeconfigs have to work after a second start. */
export function preparePki(directory: string): Pki {
  if (!existsSync(join(directory, "complete"))) createPki(directory);
  const read = (file: string) => readFileSync(join(directory, file), "utf8");
  const pair = (name: string) => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) });
  return {
    ca: read("ca.crt"),
    admin: pair("admin"),
    controllerManager: pair("controller-manager"),
    scheduler: pair("scheduler"),
    server: pair("server"),
    path: (file) => join(directory, file),
  };
}

function createPki(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const authority = createAuthority({ commonName: "development cluster" });
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text, { mode: 0o600 });
  const writePair = (name: string, pair: KeyPair) => [write(`${name}.crt`, pair.cert), write(`${name}.key`, pair.key)];
  write("ca.crt", authority.cert);
  writePair("server", issueServer(authority, { subject: { commonName: "kube-apiserver" }, names: serverNames }));
  writePair("admin", issueClient(authority, { commonName: "development-admin", organizations: ["system:masters"] }));
  writePair("controller-manager", issueClient(authority, { commonName: "system:kube-controller-manager" }));
  writePair("scheduler", issueClient(authority, { commonName: "system:kube-scheduler" }));
  const tokens = createSigningKey();
  write("service-account.key", tokens.key);
  write("service-account.pub", tokens.publicKey);
  write("complete", "");
}
