import manifest from "../package.json" with { type: "json" };
import { type ConfigComplaint, complaintsOf } from "./config/complaint.ts";
import { checkDatabase, checkRules } from "./config/rules.ts";
import { configSchema, type ParsedConfig, sections, type VaultKey } from "./config/schema.ts";
import { ROLES, type Role } from "./domain/role.ts";

/** Version of this program. */
export const argosyVersion: string = manifest.version;

type Frozen<T> = T extends readonly (infer Element)[]
  ? readonly Frozen<Element>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** A configuration that is complete and consistent: every default filled in, `all` spelt out. */
export type Config = Frozen<Omit<ParsedConfig, "roles" | "encryption">> & {
  readonly roles: readonly Role[];
  readonly encryption: Encryption | undefined;
};

/** Where the keys are; nothing secret is in here. */
export interface Encryption {
  readonly keys: readonly { readonly id: string; readonly from: KeySource }[];
  readonly current: string;
}

/** A file, an environment variable, or a service that unwraps what is given here. */
export type KeySource = { readonly file: string } | { readonly env: string } | { readonly vault: VaultKey };

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly complaints: readonly ConfigComplaint[] };

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Parses a configuration document (what a YAML parser returned, command line options merged into it; `undefined` or `null`
 * when there is none) and the environment: DATABASE_URL wins over `database.url`, and variables named by
 * `encryption.keys[].env` are checked. Gives every complaint at once, sorted by path.
 */
export function parseConfig(input: unknown, env: Env): ConfigResult {
  const document = input ?? {};
  if (typeof document !== "object" || Array.isArray(document)) {
    return {
      ok: false,
      complaints: [{ path: "", message: "is not a mapping of names to values", remedy: "Start with a line like `listen:`" }],
    };
  }
  const { document: complete, complaints: fromEnv } = withEnvironment(document as Readonly<Record<string, unknown>>, env);
  const parsed = configSchema.safeParse(complete, { reportInput: true });
  const issues = parsed.success ? [] : parsed.error.issues.flatMap(complaintsOf);
  const complaints = [...fromEnv, ...issues, ...checkRules(soundSections(complete), env)];
  if (parsed.success && complaints.length === 0) return { ok: true, config: finish(parsed.data) };
  return { ok: false, complaints: complaints.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)) };
}

/**
 * The `database` section alone, from a configuration whose other sections may be wrong or name keys that are not here: enough to change the
 * schema. DATABASE_URL wins over `database.url`, as in `parseConfig`.
 */
export function parseDatabase(
  input: unknown,
  env: Env,
): { readonly ok: true; readonly database: Config["database"] } | { readonly ok: false; readonly complaints: readonly ConfigComplaint[] } {
  const isMapping = typeof input === "object" && input !== null && !Array.isArray(input);
  const { document, complaints } = withEnvironment(isMapping ? { database: (input as { readonly database?: unknown }).database } : {}, env);
  const parsed = configSchema.safeParse(document, { reportInput: true });
  const broken = parsed.success ? checkDatabase(parsed.data.database, env) : parsed.error.issues.flatMap(complaintsOf);
  if (parsed.success && complaints.length + broken.length === 0) return { ok: true, database: parsed.data.database };
  return { ok: false, complaints: [...complaints, ...broken] };
}

function withEnvironment(
  document: Readonly<Record<string, unknown>>,
  env: Env,
): { readonly document: Readonly<Record<string, unknown>>; readonly complaints: readonly ConfigComplaint[] } {
  const url = env["DATABASE_URL"];
  if (url === undefined || url === "") return { document, complaints: [] };
  if (!sections.database.safeParse({ url }).success) {
    return {
      document,
      complaints: [
        { path: "DATABASE_URL", message: "is not a postgres:// URL", remedy: "Give postgres://user:password@host:port/name, or unset it" },
      ],
    };
  }
  const section = document["database"] ?? {};
  const isMapping = typeof section === "object" && !Array.isArray(section);
  return { document: isMapping ? { ...document, database: { ...section, url } } : document, complaints: [] };
}

/** The sections that are right by themselves, so that rules between fields are checked even when another section is wrong. */
function soundSections(document: Readonly<Record<string, unknown>>): Partial<ParsedConfig> {
  const entries = Object.entries(sections).flatMap(([name, section]) => {
    const parsed = section.safeParse(document[name]);
    return parsed.success ? [[name, parsed.data] as const] : [];
  });
  return Object.fromEntries(entries) as Partial<ParsedConfig>;
}

function finish({ roles, encryption, ...rest }: ParsedConfig): Config {
  const isAll = roles === "all" || roles.includes("all");
  return {
    ...rest,
    roles: isAll ? ROLES : ROLES.filter((role) => roles.includes(role)),
    encryption: encryption === undefined ? undefined : finishEncryption(encryption),
  };
}

function finishEncryption({ keys, current }: NonNullable<ParsedConfig["encryption"]>): Encryption {
  return {
    // The rules hold: exactly one place is there, and there is at least one key.
    keys: keys.map(({ id, file, env, vault }) => ({ id, from: sourceOf({ file, env, vault }) })),
    current: current ?? keys[0]?.id ?? "",
  };
}

function sourceOf({
  file,
  env,
  vault,
}: Pick<NonNullable<ParsedConfig["encryption"]>["keys"][number], "file" | "env" | "vault">): KeySource {
  if (vault !== undefined) return { vault };
  return file === undefined ? { env: env ?? "" } : { file };
}
