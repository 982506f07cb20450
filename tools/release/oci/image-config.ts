/** How a container of the image is started, in the words of the OCI image specification. */
export interface RunConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Volumes?: Readonly<Record<string, object>>;
  readonly WorkingDir?: string;
  readonly StopSignal?: string;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly Labels?: Readonly<Record<string, string>>;
}

export interface ImageConfig {
  readonly created: string;
  readonly architecture: string;
  readonly os: string;
  readonly variant?: string;
  readonly config: RunConfig;
  readonly rootfs: { readonly type: "layers"; readonly diff_ids: readonly string[] };
  readonly history: readonly { readonly created: string; readonly created_by: string }[];
}

const RUN_FIELDS = ["User", "Env", "Entrypoint", "Cmd", "Volumes", "WorkingDir", "StopSignal", "ExposedPorts"] as const;

/** Keeps of a builder's configuration what the Containerfile says, and gives it the labels of this release. */
export function runConfig(built: RunConfig, labels: Readonly<Record<string, string>>): RunConfig {
  const kept = RUN_FIELDS.flatMap((field) => (built[field] === undefined ? [] : [[field, built[field]] as const]));
  return { ...Object.fromEntries(kept), Labels: labels };
}
