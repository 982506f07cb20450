import { serviceOf } from "../service-names.ts";
import { type Launch, type LaunchInput, relocate } from "./launch.ts";

/** Variables by which Argo CD's programs find their files, with the paths in the image. */
const placed: Readonly<Record<string, string>> = {
  HOME: "/home/argocd",
  TMPDIR: "/tmp",
  ARGOCD_APP_CONF_PATH: "/app/config",
  ARGOCD_TLS_DATA_PATH: "/app/config/tls",
  ARGOCD_SSH_DATA_PATH: "/app/config/ssh",
  ARGOCD_GPG_DATA_PATH: "/app/config/gpg/source",
  ARGOCD_GNUPGHOME: "/app/config/gpg/keys",
  ARGOCD_PLUGINSOCKFILEPATH: "/home/argocd/cmp-server/plugins",
  ARGOCD_ENABLE_PROFILER_FILE_PATH: "/home/argocd/params/profiler.enabled",
  ARGOCD_REPO_SERVER_CLIENT_CA_PATH: "/app/config/reposerver/mtls/client-ca.crt",
  ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER_CLIENT_CERT_PATH: "/app/config/reposerver/mtls/client.crt",
  ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER_CLIENT_CERT_KEY_PATH: "/app/config/reposerver/mtls/client.key",
  KUBECACHEDIR: "/tmp/kubecache",
  GIT_CONFIG_GLOBAL: "/home/argocd/.gitconfig",
};

/** Folders of the image that the programs expect. GnuPG refuses a home directory that others can read. */
const folders: Readonly<Record<string, number>> = {
  "/home/argocd/cmp-server/plugins": 0o755,
  "/tmp": 0o755,
  "/app/config/tls": 0o755,
  "/app/config/ssh": 0o755,
  "/app/config/gpg/source": 0o755,
  "/app/config/gpg/keys": 0o700,
};

/** Addresses the programs use unless configured otherwise; they are names, and there is no name server. */
const addresses: Readonly<Record<string, string>> = {
  REDIS_SERVER: "argocd-redis:6379",
  ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER: "argocd-repo-server:8081",
};

/**
 * How a container of Argo CD's image runs on this machine. One binary holds all components, and a variable tells it
 * which one it is. Its files are moved below the container's root. It listens on the pod's address; only the
 * controller's metrics port always listens on every address, so that one is moved to a private port to which the
 * pod's address leads.
 *
 * `undefined`: the command is not one of Argo CD's programs.
 */
export function launchArgoCd(input: LaunchInput): Launch | undefined {
  const at = input.words.findIndex((word) => word.slice(word.lastIndexOf("/") + 1).startsWith("argocd"));
  const path = input.words[at];
  if (path === undefined) return undefined;
  const component = path.slice(path.lastIndexOf("/") + 1);
  const moved = [...input.mountPaths, ...Object.values(placed)];
  const move = (text: string) => relocate(text, moved, input.root);
  const args = input.words.slice(at + 1).map((word) => moveArgument(word, move));
  const own = componentSettings(component, args, input);
  const variables = Object.entries({ ...placed, ...addresses, ...input.variables }).map(([name, value]) => [name, move(value)]);
  return {
    program: "argocd",
    args: [...args, ...own.args],
    env: {
      ...(Object.fromEntries(variables) as Record<string, string>),
      ARGOCD_BINARY_NAME: component,
      ARGOCD_ASK_PASS_SOCK: `${input.sockets}/ask-pass`,
      GIT_CONFIG_NOSYSTEM: "1",
      ARGOCD_GPG_ENABLED: input.variables["ARGOCD_GPG_ENABLED"] ?? "false",
    },
    folders,
    ...{ forwards: own.forwards, connectsTo: own.connectsTo },
  };
}

function componentSettings(
  component: string,
  args: readonly string[],
  input: LaunchInput,
): Pick<Launch, "args" | "forwards" | "connectsTo"> {
  const peer = (flag: string, variable: string) => flagValue(args, flag) ?? input.variables[variable] ?? addresses[variable] ?? "";
  const redis = peer("--redis", "REDIS_SERVER");
  if (component === "argocd-repo-server")
    return { args: ["--address", input.podIP, "--metrics-address", input.podIP], forwards: [], connectsTo: [redis] };
  const identity = input.kubeconfig === undefined ? [] : ["--kubeconfig", input.kubeconfig, "--namespace", input.namespace];
  if (component !== "argocd-application-controller") return { args: identity, forwards: [], connectsTo: [] };
  const port = Number(flagValue(args, "--metrics-port") ?? "8082");
  const repoServer = peer("--repo-server", "ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER");
  return {
    args: [...identity, "--metrics-port", String(input.privatePort), ...named(repoServer, input)],
    forwards: [{ port, to: input.privatePort }],
    connectsTo: [redis, repoServer],
  };
}

/**
 * The repo-server by its name, to be resolved by our name server. Its certificate is checked against the name, so the
 * name must not be replaced by an address. `dns://authority/name:port` is how gRPC names the server to ask.
 */
function named(repoServer: string, input: LaunchInput): readonly string[] {
  const isService = serviceOf(repoServer.split(":")[0] ?? "", input.namespace) !== undefined;
  return isService ? ["--repo-server", `dns://${input.nameServer}/${repoServer}`] : [];
}

/** Moves the value of `--flag=/path`, or an argument that is a path itself. */
function moveArgument(word: string, move: (text: string) => string): string {
  const equals = word.startsWith("-") ? word.indexOf("=") : -1;
  return equals < 0 ? move(word) : word.slice(0, equals + 1) + move(word.slice(equals + 1));
}

/** The last value of a flag, written as one argument or as two. */
function flagValue(args: readonly string[], flag: string): string | undefined {
  return args.reduce<string | undefined>(
    (found, word, at) => (word === flag ? args[at + 1] : word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : found),
    undefined,
  );
}
