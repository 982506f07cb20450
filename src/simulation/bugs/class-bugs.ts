import type { WorkspaceId } from "../../domain/ids.ts";
import { type Bug, withPorts } from "./bug.ts";

/** Changes of class that go wrong. */
export const CLASS_BUGS: readonly Bug[] = [
  {
    name: "class-read-once",
    about: "what class a workspace has is read once: a label that asks for the one it had in the beginning is taken for what it has",
    ...{ property: "settled", scenario: "move-classes" },
    breaker: withPorts(({ store }) => {
      const first = new Map<WorkspaceId, readonly string[]>();
      const { intents } = store;
      const asFirst = (known: Awaited<ReturnType<typeof intents.listKnownWorkspaces>>) => {
        for (const { workspaceId, classes } of known) if (!first.has(workspaceId)) first.set(workspaceId, classes);
        return known.map((each) => ({ ...each, classes: first.get(each.workspaceId) ?? each.classes }));
      };
      const listKnownWorkspaces: typeof intents.listKnownWorkspaces = async (...asked) =>
        asFirst(await intents.listKnownWorkspaces(...asked));
      const readKnownWorkspaces: typeof intents.readKnownWorkspaces = async (...asked) =>
        asFirst(await intents.readKnownWorkspaces(...asked));
      return { store: { ...store, intents: { ...intents, listKnownWorkspaces, readKnownWorkspaces } } };
    }),
  },
  {
    name: "class-asked-once",
    about: "a unit that is to have another class is found by its notification alone, which comes while it is being moved",
    ...{ property: "settled", scenario: "move-classes", seed: 13 },
    breaker: withPorts(({ store }) => {
      const listUnsettled: typeof store.placements.listUnsettled = async (page, signal) => {
        const found = await store.placements.listUnsettled(page, signal);
        const units = await Promise.all(found.map((id) => store.placements.readUnit(id, signal)));
        return found.filter((_, index) => units[index]?.unit.owner === undefined);
      };
      return { store: { ...store, placements: { ...store.placements, listUnsettled } } };
    }),
  },
];
