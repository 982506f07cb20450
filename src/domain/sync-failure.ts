/** Failed objects and hooks that a message names, and how much of what is said of each. */
const NAMED = 3;
const LONGEST = 250;
const LONGEST_NAME = 100;

type Json = Readonly<Record<string, unknown>>;

/**
 * Names what an operation of Argo CD's failed of: its message says that something did ("one or more objects failed to apply"), and the
 * results of its objects and hooks (`syncResult.resources`, of whatever shape) say what and why. At most three are named, hooks first, each
 * in few words; the message alone where the results name nothing that failed. Nothing is made readable for users here.
 */
export function withCulprits(message: string, resources: unknown): string {
  const entries = Array.isArray(resources) ? resources.map((entry: unknown) => (isJson(entry) ? entry : {})) : [];
  const failed = [...entries.filter(isFailedHook), ...entries.filter(isFailedObject)];
  if (failed.length === 0) return message;
  const named = failed.slice(0, NAMED).map((entry) => culpritText(entry, message));
  const more = failed.length > NAMED ? [`and ${failed.length - NAMED} more`] : [];
  return `${message === "" ? "The sync failed" : message}: ${[...named, ...more].join("; ")}`;
}

function isJson(value: unknown): value is Json {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isFailedHook(entry: Json): boolean {
  return textOf(entry, "hookType") !== "" && ["Failed", "Error"].includes(textOf(entry, "hookPhase"));
}

/** Argo CD gives objects that are no hooks a phase too while they are waited for: what counts is what became of them. */
function isFailedObject(entry: Json): boolean {
  return (
    textOf(entry, "hookType") === "" &&
    (textOf(entry, "status") === "SyncFailed" || ["Failed", "Error"].includes(textOf(entry, "hookPhase")))
  );
}

function culpritText(entry: Json, message: string): string {
  const [type, kind, name, namespace] = ["hookType", "kind", "name", "namespace"].map((field) =>
    textOf(entry, field).slice(0, LONGEST_NAME),
  );
  const what = `${type === "" ? "" : `${type} hook `}${kind} ${name}${namespace === "" ? "" : ` in namespace ${namespace}`}`;
  const why = textOf(entry, "message").replaceAll(/\s+/g, " ").trim();
  if (why === "" || message.includes(why)) return what;
  return `${what}: ${why.length <= LONGEST ? why : `${why.slice(0, LONGEST - 1)}…`}`;
}

function textOf(entry: Json, field: string): string {
  const value = entry[field];
  return typeof value === "string" ? value : "";
}
