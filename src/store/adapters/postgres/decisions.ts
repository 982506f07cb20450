import type { Decision } from "../../../domain/decision.ts";
import type { Ids } from "../../../domain/ids.ts";
import type { Json } from "../../../domain/json.ts";
import { parseDecision } from "../../../domain/parse-decision.ts";
import type { DecisionStore } from "../../decision/port.ts";
import type { Database, Statement } from "./database.ts";
import { build } from "./query-builder.ts";
import { instant, instants, sqlText, texts } from "./sql-values.ts";

/** Where the journal's entries get their ids from; they sort in the order they were made. */
export type DecisionIds = Ids;

/** In the order of {@link decisionValues}. */
export const DECISION_COLUMNS = "id, at, subject, kind, verdict, rule, details";

/** Where there is none: as many as a decision has values. */
export const NO_DECISION: readonly null[] = [null, null, null, null, null, null, null];

export function decisionValues(ids: DecisionIds, decision: Decision): readonly string[] {
  const { at, subject, kind, verdict, rule, details } = decision;
  return [ids.next(), instant(at), sqlText(subject), kind, verdict, rule, JSON.stringify(details)];
}

const APPEND: Statement = {
  name: "append_decisions",
  text: `
insert into decision (${DECISION_COLUMNS})
select id, at, subject, kind, verdict, rule, details::json
  from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) as i (id, at, subject, kind, verdict, rule, details)`,
};

type Row = Omit<Decision, "details"> & { readonly details: Json };

export function createDecisionStore(database: Database, ids: DecisionIds): DecisionStore {
  return {
    async append(decisions, signal) {
      if (decisions.length === 0) return;
      const values = [
        texts(decisions.map(() => ids.next<string>())),
        instants(decisions.map((decision) => decision.at)),
        texts(decisions.map((decision) => decision.subject)),
        texts(decisions.map((decision) => decision.kind)),
        texts(decisions.map((decision) => decision.verdict)),
        texts(decisions.map((decision) => decision.rule)),
        texts(decisions.map((decision) => JSON.stringify(decision.details))),
      ];
      await database.run(APPEND, values, signal);
    },
    async list({ subject, subjects = subject === undefined ? undefined : [subject], kind, verdict, since }, limit, signal) {
      const decisions = build("decision").select("at", "subject", "kind", "verdict", "rule", "details");
      if (subjects !== undefined) decisions.whereRaw("subject = any (?::text[])", [texts(subjects)]);
      if (kind !== undefined) decisions.where({ kind });
      if (verdict !== undefined) decisions.where({ verdict: sqlText(verdict) });
      if (since !== undefined) decisions.where("at", ">=", instant(since));
      decisions.orderByRaw("at desc, id desc").limit(limit);
      const name = subjects === undefined ? "list_decisions" : "list_decisions_of_subjects";
      return (await database.query<Row>(name, decisions, signal)).map(parseDecision);
    },
  };
}
