import { NO_DIRECTIVE } from "../../../domain/directive.ts";
import { GoneError } from "../../../domain/errors.ts";
import type { DirectiveChange, DirectiveStore } from "../../port.ts";
import { putUnit } from "./applications.ts";
import type { Transact, Transaction } from "./tables.ts";

export function createMemoryDirectiveStore(transact: Transact): DirectiveStore {
  return {
    direct: (change, signal) => transact(signal, (transaction) => direct(transaction, change)),
    read: (workspaceId, signal) => transact(signal, ({ tables }) => tables.directives.get(workspaceId) ?? NO_DIRECTIVE),
    putFreeze: (freeze, decision, signal) =>
      transact(signal, ({ tables }) => {
        tables.freezes.set(freeze.name, freeze);
        tables.decisions.push(decision);
      }),
    dropFreeze: (name, decision, signal) =>
      transact(signal, ({ tables }) => {
        const wasThere = tables.freezes.delete(name);
        if (wasThere) tables.decisions.push(decision);
        return wasThere;
      }),
    listFreezes: (signal) => transact(signal, ({ tables }) => [...tables.freezes.values()].sort((a, b) => (a.name < b.name ? -1 : 1))),
  };
}

function direct({ tables, notify }: Transaction, { workspaceId, change, decision }: DirectiveChange): void {
  if (tables.workspaces.get(workspaceId) === undefined)
    throw new GoneError("ordering something about a workspace that is not there", {
      code: "store.workspace-gone",
      context: { workspace: workspaceId },
    });
  tables.directives.set(workspaceId, { ...(tables.directives.get(workspaceId) ?? NO_DIRECTIVE), ...change });
  tables.decisions.push(decision);
  for (const row of tables.units.where("workspace", workspaceId)) {
    putUnit(tables, { ...row, unit: { ...row.unit, rowVersion: row.unit.rowVersion + 1 } });
    notify("unit", row.unit.id);
  }
  if ("assigned" in change) notify("class", workspaceId);
}
