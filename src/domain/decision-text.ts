import { millis, rfc3339 } from "./clock.ts";
import { countText } from "./count-text.ts";
import type { Decision, DecisionDetails } from "./decision.ts";

/** What people call an instance; of one that is not there any more, its id. */
export type InstanceNaming = (id: string) => string;

type Telling = (decision: Decision, instanceName: InstanceNaming) => string;

/**
 * A decision as one sentence: what was decided, by whom and why. Every list of decisions shows this one, and it has words for every entry
 * that can be in a journal. What an entry does not have, for instance one of an older version, is left out.
 */
export function decisionText(decision: Decision, instanceName: InstanceNaming): string {
  const telling = TELLINGS[`${decision.kind} ${decision.verdict}`];
  const text = telling === undefined ? (decision.details.reason ?? "") : telling(decision, instanceName);
  return text === "" ? plainly(decision) : text;
}

/** Of whatever has no words of its own. */
function plainly({ verdict, rule, details: { actor } }: Decision): string {
  return `${verdict} (${rule})${actor === undefined ? "" : ` by ${actor}`}`;
}

const TELLINGS: Readonly<Partial<Record<string, Telling>>> = {
  "placement CHOSEN": ({ rule, details }, instanceName) => {
    const chosen = details["chosen"];
    return typeof chosen === "string" ? `placed on ${instanceName(chosen)}: ${CHOSEN_BY[rule] ?? rule}` : "";
  },
  "placement UNPLACEABLE": ({ details }) => {
    const [wanted, apartFrom] = [textOf(details["wantedClass"]), textOf(details["apartFrom"])];
    if (apartFrom !== "") return `not handed over away from ${apartFrom}${because(details) || ": no other instance has room for it"}`;
    if (wanted === "") return "not placed: no instance has room for it";
    return `not handed over to class ${wanted}${because(details) || ": no instance of it has room for it"}`;
  },
  "placement MOVE_REQUESTED": ({ details }, instanceName) =>
    `${details["isFailOver"] === true ? "fail-over" : "move"}${toward(details, instanceName)} asked for${by(details)}${step(details)}${takingBack(details)}${because(details)}`,
  "placement MOVED": ({ rule, details }, instanceName) =>
    `moved${away(details, instanceName)}${toward(details, instanceName)}${details["isFailOver"] === true ? " by a fail-over" : ""}, ${orderedHow(rule, details)}`,
  "placement MOVE_ABORTED": ({ rule, details }, instanceName) =>
    `the move${toward(details, instanceName)} was ended${phase(details)}: ${details.reason ?? rule}`,
  "placement RECOVERED": ({ rule, details }, instanceName) => recovered(rule, details, instanceName),
  "placement SPLIT": ({ details }) => parts(details, "together it takes more than a quarter of what the smallest instance should carry"),
  "placement MERGED": ({ details }) => parts(details, "fewer have done with 40 % to spare for seven days"),
  "placement CUT": ({ details }) =>
    `cut in two where it is: part ${String(details["part"])} stays, and the rest is to leave, so that its workspace has ${String(details["parts"])} parts`,
  "placement JOINED": ({ details }) =>
    `part ${String(details["part"])} of ${String(details["parts"])} is to be joined with part ${String(details["into"])}: fewer have done with 40 % to spare`,
  "placement TAKEN_OVER": ({ details }) =>
    `all of part ${String(details["part"])} has passed to the part it is joined with, and ${String(details["parts"])} are left`,
  "directive PINNED": ({ details }, instanceName) => `pinned to ${pinnedTo(details, instanceName)}${by(details)}${because(details)}`,
  "directive UNPINNED": ({ details }) => `unpinned${by(details)}${because(details)}`,
  "directive ASSIGNED": ({ details }) => `assigned to class ${textOf(details["class"])}${by(details)}${because(details)}`,
  "directive UNASSIGNED": ({ details }) =>
    `has the class that its labels ask for, or the one it has, said${by(details)}${because(details)}`,
  "directive HELD": ({ details }) => `not to be moved${until(details)} unless it must be, said${by(details)}${because(details)}`,
  "directive RELEASED": ({ details }) => `may be moved again, said${by(details)}${because(details)}`,
  "directive FROZEN": ({ details }) => `nothing is moved that need not be${frozenFor(details)}, said${by(details)}${because(details)}`,
  "directive THAWED": ({ details }) => `the freeze was taken back${by(details)}`,
  "directive ADOPTED": ({ details }) => `taken over from an Argo CD made by hand${by(details)}`,
  "directive TOKEN_CREATED": ({ details }) =>
    `token ${details.name ?? ""} with role ${textOf(details["role"])}${limited(details)} made${by(details)}${lasting(details)}`,
  "directive TOKEN_REVOKED": ({ details }) => `token ${details.name ?? ""} revoked${by(details)}`,
  "plan GROWN": ({ details }) => `pool ${textOf(details["pool"])} is to have ${size(details)}${because(details)}`,
  "plan SHRUNK": ({ details }) => `pool ${textOf(details["pool"])} does with ${size(details)}${because(details)}`,
  "plan AT_CEILING": ({ details }) => `class ${textOf(details["class"])} needs more instances than it gets${because(details)}`,
  "plan KEPT": ({ details }, instanceName) => `its moves relieved ${relievedInstance(details, instanceName)}${because(details)}`,
  "plan BROKEN": ({ details }, instanceName) =>
    `its moves did not relieve ${relievedInstance(details, instanceName)} as they were to${because(details)}${fallenBack(details)}`,
  "plan NOT_MEASURED": ({ details }, instanceName) =>
    `what its moves did to ${relievedInstance(details, instanceName)} is not known${because(details)}`,
  "fleet DECLARED": ({ details }) => `fleet declared${by(details)}${revision(details)}${because(details) || pools(details)}`,
  "fleet PRUNED": ({ details }) =>
    `pools that are not declared any more were asked to go${by(details)}${revision(details)}${pools(details)}`,
  "fleet PROPOSED": ({ details }) => `a declaration that needs a second person was proposed${by(details)}${because(details)}`,
  "fleet APPROVED": ({ details }) => `what ${textOf(details["proposedBy"])} proposed was approved${by(details)}${because(details)}`,
  "fleet REJECTED": ({ details }) => `what ${textOf(details["proposedBy"])} proposed was rejected${by(details)}${because(details)}`,
  "fleet WITHDRAWN": ({ details }) => `a proposal was taken back${by(details)}${because(details)}`,
  "plan PROPOSED": ({ details }) => `a plan to ${goal(details)}${by(details)}: ${counted(details["moves"], "move")}`,
  "plan APPLIED": ({ details }) => `carried out${by(details)}${outcome(details)}`,
};

const CHOSEN_BY: Readonly<Partial<Record<string, string>>> = {
  PREFERRED: "the ring prefers it",
  SPILL: "the first candidate of the ring with room",
  LEAST_LOADED: "the least loaded instance with room, as no candidate of the ring had any",
};

function by({ actor }: DecisionDetails): string {
  return actor === undefined ? "" : ` by ${actor}`;
}

function because({ reason = "" }: DecisionDetails): string {
  return reason === "" ? "" : `: ${reason}`;
}

function relievedInstance({ from }: DecisionDetails, instanceName: InstanceNaming): string {
  return from === undefined ? "an instance" : instanceName(from);
}

function size({ before, after }: DecisionDetails): string {
  return `${String(after)} instances instead of ${String(before)}`;
}

/** Broken too often, a class only proposes for a while. */
function fallenBack(details: DecisionDetails): string {
  const until = textOf(details["fallsBackUntil"]);
  return until === "" ? "" : `; class ${textOf(details["class"])} only proposes until ${until}`;
}

function away({ from }: DecisionDetails, instanceName: InstanceNaming): string {
  return from === undefined ? "" : ` from ${instanceName(from)}`;
}

function toward({ to }: DecisionDetails, instanceName: InstanceNaming): string {
  return to === undefined ? "" : ` to ${instanceName(to)}`;
}

function step({ plan }: DecisionDetails): string {
  return plan === undefined ? "" : `, a step of plan ${plan}`;
}

/** Which plan had it moved and who carried that out, or who asked for it. */
function orderedHow(rule: string, details: DecisionDetails): string {
  const { plan } = details;
  if (plan === undefined) return `asked for${by(details)}`;
  return `${rule}: plan ${plan}, carried out${by(details)}`;
}

function takingBack(details: DecisionDetails): string {
  const reverses = textOf(details["reverses"]);
  return reverses === "" ? "" : `, to take back move ${reverses}`;
}

function phase(details: DecisionDetails): string {
  const name = textOf(details["phase"]);
  return name === "" ? "" : ` in ${name}`;
}

function recovered(rule: string, { from, to }: DecisionDetails, instanceName: InstanceNaming): string {
  const [was, is] = [from === undefined ? "nowhere" : `on ${instanceName(from)}`, to === undefined ? "nowhere" : `on ${instanceName(to)}`];
  const head = "after the database was restored:";
  if (rule === "MOVED") return `${head} it lives ${is}, as what stands says; the backup had it ${was}`;
  if (rule === "STRANGER") return `${head} an account that nobody knows may write in its namespace; it stays ${is}`;
  return `${head} it lives ${is}, and what stands agrees`;
}

function parts({ before, after, held }: DecisionDetails, why: string): string {
  if (typeof before !== "number" || typeof after !== "number") return "";
  const waits = typeof held === "number" && held > 0 ? `; ${held} buckets stay where they are, which takes live moves` : "";
  return `its workspace has ${after} parts instead of ${before}: ${why}${waits}`;
}

function pinnedTo(details: DecisionDetails, instanceName: InstanceNaming): string {
  const [instance, pool] = [textOf(details["instance"]), textOf(details["pool"])];
  if (pool !== "") return `pool ${pool}`;
  return instance === "" ? "an instance" : instanceName(instance);
}

function until(details: DecisionDetails): string {
  const time = details["until"];
  return typeof time === "number" && Math.abs(time) <= LATEST ? ` until ${rfc3339(millis(time))}` : "";
}

/** What a date can hold, in ms. */
const LATEST = 8_640_000_000_000_000;

function frozenFor(details: DecisionDetails): string {
  const seconds = details["seconds"];
  const schedule = textOf(details["schedule"]);
  const length = typeof seconds === "number" ? ` for ${Math.round(seconds / 60)} min` : "";
  return `${length}${schedule === "" ? "" : ` from each ${schedule} on`}`;
}

/** How long a token is good. */
function limited({ scope }: DecisionDetails): string {
  if (typeof scope !== "object" || scope === null) return "";
  const { classes = [], workspaces = [] } = scope as { readonly classes?: readonly unknown[]; readonly workspaces?: readonly unknown[] };
  return ` (limited to ${[...workspaces, ...classes].map(textOf).join(", ")})`;
}

function lasting(details: DecisionDetails): string {
  const seconds = details["expiresInSeconds"];
  if (seconds === null) return ", without end";
  return typeof seconds === "number"
    ? `, for ${seconds < 2 * 86_400 ? `${Math.round(seconds / 60)} min` : countText(Math.round(seconds / 86_400), "day")}`
    : "";
}

function revision(details: DecisionDetails): string {
  return typeof details["revision"] === "number" ? `, revision ${details["revision"]}` : "";
}

/** Entries that do not say what changed name the pools they changed. */
function pools(details: DecisionDetails): string {
  const names = Array.isArray(details["pools"]) ? details["pools"].map(String) : [];
  return names.length === 0 ? "" : `: ${names.length === 1 ? "pool" : "pools"} ${names.join(", ")}`;
}

function goal(details: DecisionDetails): string {
  const [name, subject] = [textOf(details["goal"]), textOf(details["subject"])];
  return `${name}${subject === "" ? "" : ` ${subject}`}`;
}

function counted(value: unknown, noun: string): string {
  return countText(typeof value === "number" ? value : 0, noun);
}

function outcome(details: DecisionDetails): string {
  const said = ["moved", "asked", "dropped"].flatMap((name) =>
    typeof details[name] === "number" ? [`${details[name]} ${OUTCOMES[name]}`] : [],
  );
  return said.length === 0 ? "" : `: ${said.join(", ")}`;
}

const OUTCOMES: Readonly<Partial<Record<string, string>>> = { moved: "moved at once", asked: "asked for as live moves", dropped: "left" };

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
