import pg from "pg";

/** A statement as it was sent, with its values. */
export interface Sent {
  /** Empty: it has none, as those that are built for what is asked for. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Who sent it, if that was asked for. */
  readonly by: string;
}

/** What a statement has read of one table, indexes included, or has written to it. */
export interface Touched {
  /** Rows that it read: those that it left out afterwards count too. */
  readonly rows: number;
  readonly blocks: number;
  readonly written: number;
}

/** What is sent over connections to PostgreSQL while `work` runs. `by` says who sends at that moment. */
export async function sentBy(work: () => Promise<unknown>, by = (): string => ""): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const send = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown;
  const listen = function (this: pg.Client, ...given: unknown[]): unknown {
    const [query] = given as [Partial<Sent> | undefined];
    if (typeof query?.text === "string") sent.push({ name: query.name ?? "", text: query.text, values: query.values ?? [], by: by() });
    return send.apply(this, given);
  };
  Object.assign(pg.Client.prototype, { query: listen });
  try {
    await work();
  } finally {
    Object.assign(pg.Client.prototype, { query: send });
  }
  return sent.filter(({ text }) => !/^(begin|commit|rollback|set|listen)\b/.test(text));
}

/**
 * Runs a statement, takes back what it did, and says what it touched, by table. `plan`: made for these values, or for any, as a connection that has sent a
 * statement five times may do.
 */
export async function touchedBy(
  client: pg.Client,
  { text, values }: Pick<Sent, "text" | "values">,
  plan: "force_custom_plan" | "force_generic_plan",
): Promise<ReadonlyMap<string, Touched>> {
  await client.query("begin");
  try {
    await client.query(`set local plan_cache_mode = ${plan}`);
    await client.query(`prepare explained as ${text}`);
    const given = values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
    const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
      `explain (analyze, buffers, format json) execute explained${given}`,
    );
    const touched = new Map<string, Touched>();
    for (const { Plan } of rows[0]?.["QUERY PLAN"] ?? []) add(touched, Plan);
    return touched;
  } finally {
    await client.query("rollback");
    await client.query("deallocate all");
  }
}

/** Of a plan as `explain` writes it, what is read here. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Parent Relationship"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

function add(touched: Map<string, Touched>, node: PlanNode): void {
  const { Plans: children = [], "Relation Name": table, "Node Type": type, "Actual Loops": loops } = node;
  if (table !== undefined) {
    const before = touched.get(table) ?? { rows: 0, blocks: 0, written: 0 };
    const others = children.filter((child) => !child["Node Type"].startsWith("Bitmap"));
    const blocks = before.blocks + blocksOf(node) - others.reduce((sum, child) => sum + blocksOf(child), 0);
    const left = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
    if (type === "ModifyTable") {
      const given = children
        .filter((child) => child["Parent Relationship"] === "Outer")
        .reduce((sum, child) => sum + child["Actual Rows"] * child["Actual Loops"], 0);
      touched.set(table, { ...before, written: before.written + given });
    } else touched.set(table, { ...before, blocks, rows: before.rows + (node["Actual Rows"] + left) * loops });
  }
  for (const child of children) add(touched, child);
}

const blocksOf = (node: PlanNode): number => node["Shared Hit Blocks"] + node["Shared Read Blocks"];

function literal(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value));
  return pg.escapeLiteral(`{${value.map((each) => `"${String(each).replace(/["\\]/g, "\\$&")}"`).join(",")}}`);
}
