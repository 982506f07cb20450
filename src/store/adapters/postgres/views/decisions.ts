import type { Decision } from "../../../../domain/decision.ts";
import type { Ids } from "../../../../domain/ids.ts";
import type { Json } from "../../../../domain/json.ts";
import { parseDecision } from "../../../../domain/parse-decision.ts";
import type { DecisionStore } from "../../../decision/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant, instants, text, texts } from "../sql-values.ts";

/** Where the journal's entries get their ids from; they sort in the order they were made. */
export type DecisionIds = Ids;

/** In the order of {@link decisionValues}. */
export const DECISION_COLUMNS = "id, at, subject, kind, verdict, rule, details";

/** Where there is none: as many as a decision has values. */
export const NO_DECISION: readonly null[] = [null, null, null, null, null, null, null];

export function decisionValues(ids: DecisionIds, decision: Decision): readonly string[] {
  const { at, subject, kind, verdict, rule, details } = decision;
  return [ids.next(), instant(at), text(subject), kind, verdict, rule, JSON.stringify(details)];
}

const APPEND: Statement = {
  name: "append_decisions",
  text: `
insert into decision (${DECISION_COLUMNS})
select id, at, subject, kind, verdict, rule, details::json
  from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) as i (id, at, subject, kind, verdict, rule, details)`,
};

const MATCHES = "($1::text is null or kind = $1) and ($2::text is null or verdict = $2) and at >= $3::timestamptz";

const LIST: Statement = {
  name: "list_decisions",
  text: `
select at, subject, kind, verdict, rule, details from decision
 where ${MATCHES}
 order by at desc, id desc
 limit $4`,
};

const LIST_OF_SUBJECTS: Statement = {
  name: "list_decisions_of_subjects",
  text: `
select at, subject, kind, verdict, rule, details from decision
 where subject = any ($5::text[]) and ${MATCHES}
 order by at desc, id desc
 limit $4`,
};

const BEGINNING = "-infinity";

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
      const values = [kind ?? null, verdict === undefined ? null : text(verdict), since === undefined ? BEGINNING : instant(since), limit];
      const rows =
        subjects === undefined
          ? await database.run<Row>(LIST, values, signal)
          : await database.run<Row>(LIST_OF_SUBJECTS, [...values, texts(subjects)], signal);
      return rows.map(parseDecision);
    },
  };
}
