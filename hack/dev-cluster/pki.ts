import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../src/domain/errors.ts";
import type { KeyPair, Subject } from "../../src/runtime/certificate.ts";
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
  /** A certificate for one more client. Throws `InputError` for a folder of a time when the authority's key was not kept. */
  issueClient(subject: Subject): KeyPair;
}

export type PkiFile = "ca.crt" | "admin.crt" | "admin.key" | "server.crt" | "server.key" | "service-account.key" | "service-account.pub";

/** Names and addresses at which the API server of every cluster is reached: from this machine, and from pods. */
const serverNames = [
  "127.0.0.1",
  "localhost",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  // The first address of the range of Services.
  "10.96.0.1",
];

/**
 * Creates the certificates in `directory`, or reads existing ones: kubeconfigs have to work after a second start. `address`: one more
 * address of the API server; when it has changed, the server gets a new certificate of the same authority.
 */
export function preparePki(directory: string, address?: string): Pki {
  if (!existsSync(join(directory, "complete"))) createPki(directory);
  if (address !== undefined) certifyServer(directory, address);
  const read = (file: string) => readFileSync(join(directory, file), "utf8");
  const pair = (name: string) => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) });
  return {
    ca: read("ca.crt"),
    admin: pair("admin"),
    controllerManager: pair("controller-manager"),
    scheduler: pair("scheduler"),
    server: pair("server"),
    path: (file) => join(directory, file),
    issueClient: (subject) => issueClient(readAuthority(directory), subject),
  };
}

function certifyServer(directory: string, address: string): void {
  const file = join(directory, "server.address");
  if (existsSync(file) && readFileSync(file, "utf8") === address) return;
  const pair = issueServer(readAuthority(directory), { subject: { commonName: "kube-apiserver" }, names: [...serverNames, address] });
  writeFileSync(join(directory, "server.crt"), pair.cert, { mode: 0o600 });
  writeFileSync(join(directory, "server.key"), pair.key, { mode: 0o600 });
  writeFileSync(file, address);
}

function readAuthority(directory: string): KeyPair {
  const [cert, key] = ["ca.crt", "ca.key"].map((file) => join(directory, file)) as [string, string];
  if (existsSync(key)) return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  throw new InputError(`${key} is not there: this cluster was made by an earlier version`, {
    code: "dev.no-authority",
    path: directory,
    remedy: "use another state directory, or delete this one",
  });
}

function createPki(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const authority = createAuthority({ commonName: "development cluster" });
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text, { mode: 0o600 });
  const writePair = (name: string, pair: KeyPair) => [write(`${name}.crt`, pair.cert), write(`${name}.key`, pair.key)];
  writePair("ca", authority);
  writePair("server", issueServer(authority, { subject: { commonName: "kube-apiserver" }, names: serverNames }));
  writePair("admin", issueClient(authority, { commonName: "development-admin", organizations: ["system:masters"] }));
  writePair("controller-manager", issueClient(authority, { commonName: "system:kube-controller-manager" }));
  writePair("scheduler", issueClient(authority, { commonName: "system:kube-scheduler" }));
  const tokens = createSigningKey();
  write("service-account.key", tokens.key);
  write("service-account.pub", tokens.publicKey);
  write("complete", "");
}
