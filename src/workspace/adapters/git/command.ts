import { isIP } from "node:net";
import { basename, dirname, join } from "node:path";
import { knownHosts } from "../../../domain/known-hosts.ts";
import type { RepositoryTarget } from "../../repository-credential/port.ts";

/** What git is run with for one probe. */
export interface GitCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that must be there, readable by nobody else, under the names the environment gives them. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The command that reads one repository from an empty private directory. Git reads no configuration but what stands here, asks
 * nobody, starts no helper, follows no redirect, speaks one protocol and connects to the addresses that were checked. Secrets are
 * in the environment, which only the same user may read, or in a file of the directory; never among the arguments.
 */
export function gitCommand(
  observation: RepositoryTarget,
  addresses: readonly string[],
  { directory, path }: { readonly directory: string; readonly path: string },
): GitCommand {
  const own =
    observation.scheme === "ssh"
      ? sshSettings(observation, addresses[0] ?? "", directory)
      : httpSettings(observation, addresses, directory);
  const settings: readonly (readonly [string, string])[] = [
    ...[["protocol.allow", "never"] as const, [`protocol.${observation.scheme}.allow`, "always"] as const],
    ...[["protocol.version", "2"] as const, ["credential.helper", ""] as const, ["core.askPass", ""] as const],
    ...own.settings,
  ];
  return {
    args: ["ls-remote", "--quiet", "--", observation.url, "HEAD"],
    files: own.files,
    env: {
      PATH: path,
      HOME: directory,
      LC_ALL: "C",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_CONFIG_GLOBAL: "/dev/null",
      // No repository around the directory is looked for, whose configuration would be read.
      GIT_CEILING_DIRECTORIES: dirname(directory),
      GIT_TERMINAL_PROMPT: "0",
      GIT_ALLOW_PROTOCOL: observation.scheme,
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([key, value], at) => [
          [`GIT_CONFIG_KEY_${at}`, key],
          [`GIT_CONFIG_VALUE_${at}`, value],
        ]),
      ),
      ...own.env,
    },
  };
}

interface Settings {
  readonly settings: readonly (readonly [string, string])[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

function httpSettings(target: RepositoryTarget, addresses: readonly string[], directory: string): Settings {
  const { host, port } = target;
  const [authorities, authorization] = [authoritiesOf(target), authorizationOf(target.secret)];
  const targets = addresses.map((address) => (address.includes(":") ? `[${address}]` : address)).join(",");
  return {
    env: {},
    files: authorities === undefined ? {} : { "authorities.pem": authorities },
    settings: [
      ["http.followRedirects", "false"],
      ["http.proxy", ""],
      ["http.sslVerify", "true"],
      // An address needs no resolving.
      ...(isIP(host) === 0 ? [["http.curloptResolve", `${host}:${port}:${targets}`] as const] : []),
      ...(authorities === undefined ? [] : [["http.sslCAInfo", join(directory, "authorities.pem")] as const]),
      ...(authorization === undefined ? [] : [["http.extraHeader", `Authorization: ${authorization}`] as const]),
    ],
  };
}

/** PEM of who alone vouches for the host; `undefined`: whoever does for everybody. */
export function authoritiesOf({ host, egress }: Pick<RepositoryTarget, "host" | "egress">): string | undefined {
  return egress.certificateAuthorities?.find((one) => one.host === host.toLowerCase())?.certificates;
}

/** The value of the header that a secret is sent in; `undefined`: in none. */
export function authorizationOf(secret: RepositoryTarget["secret"]): string | undefined {
  if (secret?.kind === "bearer") return `Bearer ${secret.token}`;
  if (secret?.kind !== "basic") return undefined;
  return `Basic ${Buffer.from(`${secret.username}:${secret.password}`, "utf8").toString("base64")}`;
}

const CONNECT_SECONDS = 10;

/** Git hands the command to a shell: host and address are names or numbers by now, and are quoted all the same. */
function sshSettings({ host, port, secret, egress }: RepositoryTarget, address: string, directory: string): Settings {
  const file = (name: string) => join(directory, name);
  const options = {
    ...{ BatchMode: "yes", PreferredAuthentications: "publickey", IdentitiesOnly: "yes", IdentityAgent: "none", IdentityFile: file("key") },
    ...{ StrictHostKeyChecking: "yes", UserKnownHostsFile: file("known_hosts"), GlobalKnownHostsFile: "/dev/null", UpdateHostKeys: "no" },
    ...{ CheckHostIP: "no", VerifyHostKeyDNS: "no", ProxyCommand: "none", ForwardAgent: "no", ConnectTimeout: String(CONNECT_SECONDS) },
    ...{ HostName: address, HostKeyAlias: port === 22 ? host : `[${host}]:${port}` },
  };
  const words = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  return {
    env: { GIT_SSH_COMMAND: ["ssh", "-F", "none", ...words].map(quoted).join(" "), GIT_SSH_VARIANT: "ssh" },
    files: { key: secret?.kind === "ssh" ? secret.privateKey : "", known_hosts: knownHosts(egress.sshKnownHosts) },
    settings: [],
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A process, distinguished from an earlier one of the same number: containers give everybody the same. */
export interface ProcessMark {
  readonly pid: number;
  /** When it began, in ms since the epoch. */
  readonly startedAtMs: number;
}

/** Prefix of the directories of one process; whoever starts later finds by it those whose process is gone. */
export const directoryPrefix = ({ pid, startedAtMs }: ProcessMark): string => `probe-${pid}-${startedAtMs}-`;

/** The process a directory belongs to; `undefined` for what is none of ours. */
export function repositoryOwnerOf(directory: string): ProcessMark | undefined {
  const [, pid, startedAtMs] = /^probe-(\d{1,10})-(?:(\d{1,15})-)?/.exec(basename(directory)) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), startedAtMs: Number(startedAtMs ?? 0) };
}
