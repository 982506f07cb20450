import { isAbsolute, join } from "node:path";
import { parse } from "yaml";
import { InputError } from "../../domain/errors.ts";
import type { ExecPlugin } from "./exec-plugin.ts";

export interface AuthProvider {
  readonly name: string;
  readonly config: Readonly<Record<string, string>>;
}

/** Where the bearer token comes from. */
export type TokenOrigin =
  | { readonly kind: "none" }
  | { readonly kind: "fixed"; readonly token: string }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "exec"; readonly exec: ExecPlugin }
  | { readonly kind: "provider"; readonly provider: AuthProvider };

export interface TlsSettings {
  readonly ca?: string;
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** One context of a kubeconfig, resolved. */
export interface KubeconfigEntry {
  readonly server: string;
  readonly tls: TlsSettings;
  readonly token: TokenOrigin;
}

export type ParsedKubeconfig = { readonly ok: true; readonly entry: KubeconfigEntry } | { readonly ok: false; readonly error: InputError };

/** What a kubeconfig's YAML or JSON says. */
export type Fields = Readonly<Record<string, unknown>>;

/** Text, or what somebody has parsed it to. */
export interface KubeconfigInput {
  readonly text: string | Fields;
  readonly context: string | undefined;
  /** What relative file names are relative to; without it files are refused altogether, for texts that come from users. */
  readonly directory: string | undefined;
  /** Content of a file named in the field at `path`; throws `InputError`. */
  readonly readFile: (file: string, path: string) => string;
}

/**
 * Parses a kubeconfig and picks one context. What it would be dangerous to ignore is an error with the field's path: a proxy (we would
 * go around it), impersonation (we would act with more rights than meant), a password (API servers do not take them any more).
 */
export function parseKubeconfig(input: KubeconfigInput): ParsedKubeconfig {
  try {
    return { ok: true, entry: resolve(input) };
  } catch (error) {
    if (error instanceof InputError) return { ok: false, error };
    throw error;
  }
}

function resolve(input: KubeconfigInput): KubeconfigEntry {
  const root = typeof input.text === "string" ? parseYaml(input.text) : input.text;
  const contextName = input.context ?? text(root, "current-context", "");
  if (contextName === undefined) throw wrong("current-context", "name the context to use, here or in the configuration");
  const context = named(root, "contexts", contextName, "context");
  const cluster = named(root, "clusters", required(context.fields, "cluster", context.path), "cluster");
  const userName = text(context.fields, "user", context.path);
  const user = userName === undefined ? { fields: {}, path: "users" } : named(root, "users", userName, "user");
  const files = createFileReader(input);
  return { server: serverOf(cluster), tls: { ...clusterTls(cluster, files), ...certificateOf(user, files) }, token: tokenOf(user, files) };
}

interface Section {
  readonly fields: Fields;
  readonly path: string;
}

function parseYaml(source: string): Fields {
  try {
    const root: unknown = parse(source, { maxAliasCount: 100, logLevel: "error" });
    if (isFields(root)) return root;
  } catch {
    // The parser's message quotes the line, and kubeconfigs are full of secrets; so do its warnings, which it would print.
  }
  throw wrong("kubeconfig", "give a kubeconfig: YAML or JSON with clusters, users and contexts");
}

function named(root: Fields, list: string, name: string, body: string): Section {
  const entries = root[list];
  const entry = Array.isArray(entries) ? entries.find((each) => isFields(each) && each["name"] === name) : undefined;
  const path = `${list}[${name}].${body}`;
  if (!isFields(entry)) throw wrong(`${list}[${name}]`, `add it to ${list}, or name one that is there`);
  const fields = entry[body];
  if (!isFields(fields)) throw wrong(path, "fill it in");
  return { fields, path };
}

function serverOf({ fields, path }: Section): string {
  const server = required(fields, "server", path);
  if (text(fields, "proxy-url", path) !== undefined)
    throw wrong(`${path}.proxy-url`, "remove it: connections through a proxy are not supported; make the API server reachable directly");
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    throw wrong(`${path}.server`, "give a URL such as https://host:6443");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw wrong(`${path}.server`, "leave user, query and fragment out of the URL");
  return server;
}

function clusterTls({ fields, path }: Section, files: FileReader): TlsSettings {
  const ca = files.dataOrFile(fields, "certificate-authority", path);
  const serverName = text(fields, "tls-server-name", path);
  const skip = fields["insecure-skip-tls-verify"];
  if (skip !== undefined && typeof skip !== "boolean") throw wrong(`${path}.insecure-skip-tls-verify`, "give true or false");
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(skip === true ? { insecureSkipTlsVerify: true } : {}),
  };
}

function certificateOf({ fields, path }: Section, files: FileReader): TlsSettings {
  const cert = files.dataOrFile(fields, "client-certificate", path);
  const key = files.dataOrFile(fields, "client-key", path);
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined) throw wrong(`${path}.client-certificate-data`, "give the certificate that belongs to the key");
  if (key === undefined) throw wrong(`${path}.client-key-data`, "give the key that belongs to the certificate");
  return { certificate: { cert, key } };
}

/** In kubectl's order: a token file wins over a token, both over a plugin. */
function tokenOf({ fields, path }: Section, files: FileReader): TokenOrigin {
  refuse(fields, path, ["username", "password"], "use a token or a client certificate: API servers take no passwords");
  refuse(
    fields,
    path,
    ["as", "as-uid", "as-groups", "as-user-extra"],
    "remove it: impersonation is not supported; use an account with the rights needed",
  );
  const file = text(fields, "tokenFile", path);
  if (file !== undefined) return { kind: "file", file: files.locate(file, `${path}.tokenFile`) };
  const token = text(fields, "token", path);
  if (token !== undefined) return { kind: "fixed", token };
  if (isFields(fields["exec"])) return { kind: "exec", exec: execOf({ fields: fields["exec"], path: `${path}.exec` }, files) };
  if (isFields(fields["auth-provider"]))
    return { kind: "provider", provider: providerOf({ fields: fields["auth-provider"], path: `${path}.auth-provider` }, files) };
  return { kind: "none" };
}

function execOf({ fields, path }: Section, files: FileReader): ExecPlugin {
  const command = required(fields, "command", path);
  files.mayTouchMachine(`${path}.command`);
  return {
    apiVersion: text(fields, "apiVersion", path) ?? "client.authentication.k8s.io/v1",
    // As in kubectl: a bare name is looked up on PATH, anything with a slash is relative to the kubeconfig.
    command: command.includes("/") ? files.locate(command, `${path}.command`) : command,
    args: listOf(fields["args"], `${path}.args`).map((each, index) => asText(each, `${path}.args[${index}]`)),
    env: Object.fromEntries(listOf(fields["env"], `${path}.env`).map((each, index) => environmentEntry(each, `${path}.env[${index}]`))),
    provideClusterInfo: fields["provideClusterInfo"] === true,
  };
}

function environmentEntry(entry: unknown, path: string): [string, string] {
  if (!isFields(entry)) throw wrong(path, "give name and value");
  return [required(entry, "name", path), text(entry, "value", path) ?? ""];
}

function providerOf({ fields, path }: Section, files: FileReader): AuthProvider {
  files.mayTouchMachine(path);
  const config = isFields(fields["config"]) ? fields["config"] : {};
  return {
    name: required(fields, "name", path),
    config: Object.fromEntries(Object.entries(config).map(([key, value]) => [key, asText(value, `${path}.config.${key}`)])),
  };
}

type FileReader = ReturnType<typeof createFileReader>;

function createFileReader(input: KubeconfigInput) {
  function mayTouchMachine(path: string): void {
    if (input.directory === undefined)
      throw wrong(path, "inline it: this kubeconfig may neither name files nor run commands on this machine");
  }
  function locate(file: string, path: string): string {
    mayTouchMachine(path);
    return isAbsolute(file) ? file : join(input.directory ?? "", file);
  }
  function dataOrFile(fields: Fields, name: string, path: string): string | undefined {
    const data = text(fields, `${name}-data`, path);
    if (data !== undefined) return fromBase64(data, `${path}.${name}-data`);
    const file = text(fields, name, path);
    return file === undefined ? undefined : input.readFile(locate(file, `${path}.${name}`), `${path}.${name}`);
  }
  return { mayTouchMachine, locate, dataOrFile };
}

function fromBase64(data: string, path: string): string {
  const compact = data.replace(/\s/g, "");
  const decoded = /^[A-Za-z0-9+/]+={0,2}$/.test(compact) ? Buffer.from(compact, "base64").toString("utf8") : "";
  if (!decoded.includes("-----BEGIN ")) throw wrong(path, "give PEM, encoded in base64");
  return decoded;
}

function refuse(fields: Fields, path: string, names: readonly string[], remedy: string): void {
  for (const name of names) if (fields[name] !== undefined && fields[name] !== "") throw wrong(`${path}.${name}`, remedy);
}

function required(fields: Fields, name: string, path: string): string {
  const value = text(fields, name, path);
  if (value === undefined) throw wrong(`${path}.${name}`, "fill it in");
  return value;
}

function text(fields: Fields, name: string, path: string): string | undefined {
  const value = fields[name];
  return value === undefined || value === null || value === "" ? undefined : asText(value, path === "" ? name : `${path}.${name}`);
}

function asText(value: unknown, path: string): string {
  if (typeof value !== "string") throw wrong(path, "give a string; put quotes around it if it looks like a number");
  return value;
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong(path, "give a list");
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(path: string, remedy: string): InputError {
  return new InputError("Reading the kubeconfig", { code: "kube.kubeconfig", path, remedy });
}
