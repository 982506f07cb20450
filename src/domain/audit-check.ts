import { type AuditLine, auditHash, auditText, FORGET_ACTION, NO_RECORD } from "./audit.ts";

export const AUDIT_FAULTS = ["CHANGED", "REMOVED", "REORDERED", "INSERTED", "REWRITTEN", "UNREADABLE"] as const;

/** The first thing that is wrong with a trail. */
export interface AuditFault {
  readonly code: (typeof AUDIT_FAULTS)[number];
  /** Number of the first record that is not as it was written, or is not there; `null`: nothing says which. */
  readonly seq: number | null;
  /** Line of the export, from 1 on; `null`: it is about no line. */
  readonly line: number | null;
  readonly text: string;
}

export interface AuditReport {
  readonly ok: boolean;
  readonly records: number;
  /** Numbers of the first and last record; `null`: there is none. */
  readonly first: number | null;
  readonly last: number | null;
  /** Hash of the last record: whoever keeps it finds a trail that was written anew. `null`: there is no record, or the trail is not whole. */
  readonly lastHash: string | null;
  /** What was asked for and has no answer: it is under way, or the process that did it has died. */
  readonly unanswered: readonly number[];
  /** Last record that retention has forgotten; 0: none. */
  readonly forgotten: number;
  readonly fault: AuditFault | null;
}

export interface AuditCheck {
  /** The next line of an export, in order. */
  add(line: string): void;
  report(): AuditReport;
}

const FIELDS: Readonly<Record<keyof AuditLine, (value: unknown) => boolean>> = {
  action: isText,
  actor: isText,
  answers: (value) => value === null || isCount(value),
  at: isText,
  code: isText,
  count: isCount,
  details: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  hash: isHash,
  outcome: isText,
  previous: isHash,
  remote: (value) => value === null || isText(value),
  role: (value) => value === null || isText(value),
  seq: isCount,
  target: isText,
  via: isText,
};

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isHash(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** A line of an export; `undefined`: it is none. Neither is one with a field that no record has. */
function parseAuditLine(text: string): AuditLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const isWhole = Object.entries(FIELDS).every(([name, isRight]) => isRight(fields[name]));
  return isWhole && Object.keys(fields).length === Object.keys(FIELDS).length ? (value as AuditLine) : undefined;
}

/**
 * Checks a trail record by record: each has the hash of what it says, the number after the one before, and goes on from its hash. The first
 * record is number 1, or a later record says that retention has forgotten all before it. `fromHash`: hash of a record that was the last one
 * once. A trail that was written anew, or cut before it, does not have it. Nothing shows that records after the last kept hash were cut off.
 */
export function createAuditCheck(fromHash?: string): AuditCheck {
  let [lines, records] = [0, 0];
  let first: AuditLine | undefined;
  let last: AuditLine | undefined;
  let fault: AuditFault | undefined;
  /** A number that is missing so far: where it comes later, the lines were put into another order. */
  let missing: { readonly seq: number; readonly before: number; readonly line: number } | undefined;
  let isFromFound = fromHash === undefined;
  let forgotten: { readonly hash: unknown; readonly through: unknown } | undefined;
  const unanswered = new Set<number>();

  const read = (record: AuditLine): void => {
    records += 1;
    first ??= record;
    last = record;
    if (record.hash === fromHash || (first === record && record.previous === fromHash)) isFromFound = true;
    if (record.outcome === "asked") unanswered.add(record.seq);
    if (record.answers !== null) unanswered.delete(record.answers);
    if (record.action === FORGET_ACTION && record.via === "argosy")
      forgotten = { hash: record.details["hash"], through: record.details["through"] };
  };
  const whyBadOrder = (record: AuditLine, before: AuditLine): AuditFault | undefined => {
    const { seq } = record;
    if (seq === before.seq + 1) return undefined;
    if (seq > before.seq) {
      missing = { seq: before.seq + 1, before: seq, line: lines };
      return undefined;
    }
    if (first !== undefined && seq < first.seq)
      return {
        ...{ code: "REORDERED", seq, line: lines },
        text: `record ${seq} stands in line ${lines}, after record ${before.seq}: lines were put into another order`,
      };
    return {
      ...{ code: "INSERTED", seq, line: lines },
      text: `line ${lines} is a second record ${seq}: it, or the one before it, was put in`,
    };
  };
  const judge = (record: AuditLine): AuditFault | undefined => {
    const { seq } = record;
    if (auditHash(record) !== record.hash)
      return { code: "CHANGED", seq, line: lines, text: `record ${seq} was changed: its hash is not that of what it says` };
    if (last === undefined) return undefined;
    const order = whyBadOrder(record, last);
    if (order !== undefined || missing !== undefined) return order;
    if (record.previous !== last.hash)
      return {
        ...{ code: "REWRITTEN", seq, line: lines },
        text: `record ${seq} does not go on from record ${last.seq} as it stands here: one of them, or all before it, was written anew`,
      };
    return undefined;
  };
  const whyReordered = (record: AuditLine | undefined): AuditFault | undefined =>
    missing === undefined || record?.seq !== missing.seq
      ? undefined
      : {
          ...{ code: "REORDERED", seq: missing.seq, line: lines },
          text: `record ${missing.seq} stands in line ${lines}, after record ${missing.before}: lines were put into another order`,
        };
  const whyUnreadable = (): AuditFault => ({
    ...{ code: "UNREADABLE", seq: last === undefined ? null : last.seq + 1, line: lines },
    text: `line ${lines} is no record of an audit trail`,
  });
  const add = (line: string): void => {
    lines += 1;
    if (fault !== undefined) return;
    const record = parseAuditLine(line);
    if (missing !== undefined) {
      fault = whyReordered(record);
      return;
    }
    fault = record === undefined ? whyUnreadable() : (judge(record) ?? whyOtherText(record, line));
    if (record !== undefined && fault === undefined && missing === undefined) read(record);
  };
  /** A name that stands twice is read once by every program, and by each another time. */
  const whyOtherText = (record: AuditLine, line: string): AuditFault | undefined =>
    auditText(record) === line
      ? undefined
      : {
          ...{ code: "CHANGED", seq: record.seq, line: lines },
          text: `record ${record.seq} is not written as an export writes it: a name stands twice, or out of its place`,
        };
  const whyNotWhole = (): AuditFault | undefined => {
    if (fault !== undefined) return fault;
    if (missing !== undefined)
      return {
        ...{ code: "REMOVED", seq: missing.seq, line: missing.line },
        text: `${range(missing.seq, missing.before - 1)} missing: line ${missing.line} is record ${missing.before}`,
      };
    if (first !== undefined && !isBeginning(first))
      return {
        ...{ code: "REMOVED", seq: 1, line: 1 },
        text:
          first.seq === 1
            ? "record 1 goes on from another record: it is not the first one"
            : `${range(1, first.seq - 1)} missing, and no record says that retention has forgotten them`,
      };
    if (!isFromFound)
      return {
        ...{ code: "REWRITTEN", seq: null, line: null },
        text: `no record has the hash ${fromHash}: the trail was written anew, or cut, since that was its last record`,
      };
    return undefined;
  };
  const isBeginning = ({ seq, previous }: AuditLine): boolean => {
    if (seq === 1) return previous === NO_RECORD;
    return previous === fromHash || (forgotten?.through === seq - 1 && forgotten.hash === previous);
  };

  return {
    add,
    report() {
      const found = whyNotWhole() ?? null;
      return {
        ok: found === null,
        records,
        first: first?.seq ?? null,
        last: last?.seq ?? null,
        lastHash: found === null ? (last?.hash ?? null) : null,
        unanswered: [...unanswered].sort((a, b) => a - b),
        forgotten: first === undefined ? 0 : first.seq - 1,
        fault: found,
      };
    },
  };
}

function range(from: number, to: number): string {
  return from === to ? `record ${from} is` : `records ${from} to ${to} are`;
}
