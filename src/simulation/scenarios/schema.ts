import { z } from "zod";

const seconds = z.number().min(0).max(3_600);
const share = z.number().min(0).max(0.5);
const times = z.int().min(0).max(5_000);

const faults = z.strictObject({
  before: share.describe("share of calls that never arrive"),
  afterEffect: share.describe("share of calls that are carried out and whose answer gets lost"),
  error: share,
  delay: share,
  longestDelaySeconds: seconds,
  which: z.array(z.string()).optional().describe("beginnings of the names of the calls that are meant; absent: all of Argosy's"),
});

const trouble = z.strictObject({
  kind: z.enum([
    "crash",
    "freeze",
    "part",
    "cut-off",
    "lose-target",
    "database-away",
    "end-watches",
    "compact",
    "freeze-server",
    "quota",
    "hand-finalizer",
    "hand-delete",
  ]),
  who: z.enum(["argosy", "instance"]).default("argosy").describe("whom it happens to; one of them is drawn each time"),
  from: z.enum(["database", "api", "engine"]).default("api").describe("whom it is parted from"),
  times,
  longestSeconds: seconds.default(10),
});

/** What happens in a run, drawn anew for each seed within these bounds. */
export const scenarioSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  open: z
    .string()
    .optional()
    .describe("the finding that some of its seeds still show: known seeds are run with every commit, fresh ones are not"),
  isDrawn: z.boolean().default(false).describe("the numbers are the most of everything: each seed draws some of it"),
  commitRuns: times.default(20).describe("fresh seeds of it that every commit runs"),
  members: z.int().min(1).max(10),
  instances: z.int().min(1).max(50),
  far: times.default(0).describe("how many of the instances stand on an engine cluster of their own, which Argosy can be cut off from"),
  workspaces: z.int().min(1).max(1_000),
  activeSeconds: seconds,
  users: z.strictObject({
    create: times,
    edit: times.default(0),
    remove: times.default(0),
    recreate: times.default(0),
    flash: times.default(0),
    push: times.default(0),
    poke: times.default(0).describe("requests for a refresh"),
    stumble: times.default(0).describe("paths that cannot be deployed, each mended a while later"),
    endNamespace: times.default(0),
  }),
  moves: z
    .strictObject({
      move: times.default(0).describe("single units, by hand"),
      abort: times.default(0),
      reverse: times.default(0),
      drain: times.default(0).describe("everything of one instance"),
      evacuate: times.default(0),
      failOver: times.default(0).describe("single units away from far instances, without going there"),
      redirect: times.default(0).describe("fail-overs of units that a move has just brought to a far instance, while that move goes on"),
    })
    .optional()
    .describe("live moves that are asked for, at any time after the first tenth of the active time"),
  classes: z
    .strictObject({
      trusted: times.describe("how many of the instances, the last, are of another class"),
      relabel: times.describe("labels by which namespaces ask for one of the classes, which come, change and go"),
    })
    .optional()
    .describe("a second class, which workspaces are handed over to by labels of their namespaces, and back"),
  parts: z
    .strictObject({ steps: times.describe("of the scheduler, towards a number of parts of a workspace that is drawn") })
    .optional()
    .describe("workspaces that are cut in parts and joined again while they are deployed"),
  servers: z.int().min(1).max(3).default(1).describe("API servers behind the address of the users' cluster"),
  hopMs: z.number().min(0.1).max(1_000).default(3).describe("how long one way between two processes takes at most"),
  hasWebhook: z.boolean().default(false).describe("a webhook notifies instances of pushes at once"),
  createWithinSeconds: seconds.optional().describe("creations come within this time from the beginning; absent: at any time"),
  faults: faults.optional(),
  troubles: z.array(trouble).default([]),
  budget: z.strictObject({
    settleSeconds: seconds.describe("how long after the last trouble everything may take to agree"),
    writesAtRest: times,
  }),
});

export type Scenario = z.infer<typeof scenarioSchema>;
export type ScenarioTrouble = Scenario["troubles"][number];
