/** A container before it becomes a process: everything is known, and nothing is translated for this machine yet. */
export interface LaunchInput {
  readonly namespace: string;
  /** Command and arguments with variables expanded. */
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Paths inside the container that are mounts. */
  readonly mountPaths: readonly string[];
  readonly podIP: string;
  /** A port on 127.0.0.1 that nobody else uses. */
  readonly privatePort: number;
  /** Folder that stands for `/` of the container. */
  readonly root: string;
  /** Folder with a short path, for sockets. */
  readonly sockets: string;
  /** `host:port` of a name server that knows the Services. */
  readonly nameServer: string;
  /** File for the pod's service account, if the pod mounts its token. */
  readonly kubeconfig: string | undefined;
}

export interface PortForward {
  readonly port: number;
  readonly to: number;
}

/** What to run. */
export interface Launch {
  /** File name of the program in its set. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder whose programs it finds before all others. */
  readonly path?: string;
  /** Folders below the root that have to exist, with their mode. */
  readonly folders: Readonly<Record<string, number>>;
  /** Ports of the pod's address that lead to a port of 127.0.0.1, for programs that cannot listen on a single address. */
  readonly forwards: readonly PortForward[];
  /** `host:port` that it connects to from the start. If that is a Service, the start waits until it exists. */
  readonly connectsTo: readonly string[];
}

/** Translates a path of the container into one of this machine if it lies on or below one of `paths`; else returns it unchanged. */
export function relocate(text: string, paths: readonly string[], root: string): string {
  return paths.some((path) => text === path || text.startsWith(path.endsWith("/") ? path : `${path}/`)) ? root + text : text;
}
