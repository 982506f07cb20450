import type { RebalancingView } from "../api/routes/rebalancing.ts";
import { timeText } from "./age.ts";
import type { Column } from "./table.ts";

/** `argosy rebalancing`: what becomes of moves that need not be made, class by class. */
export const rebalancing: readonly Column<RebalancingView>[] = [
  { title: "CLASS", value: (row) => row.class, fit: "name" },
  { title: "MODE", value: (row) => row.mode },
  {
    title: "NOW",
    value: (row) => (row.fallsBackUntil === null ? row.modeInForce : `${row.modeInForce} until ${timeText(row.fallsBackUntil)}`),
  },
  { title: "HOUR", value: (row) => row.movesPerHour },
  { title: "DAY", value: (row) => row.movesPerDay },
  { title: "KEPT", value: (row) => `${row.kept} of ${row.kept + row.broken}` },
  { title: "MEASURING", value: (row) => row.promises.map(({ instance }) => instance).join(", "), fit: "text" },
];
