import type { OwnedApplication } from "../port.ts";
import { soon, type World } from "./world.ts";

/** The applications of which `work` changes who has to work for them, without a notification that says so (`OwnershipStore`). */
export async function unnotifiedBy({ store, notificationsOf }: World, work: () => Promise<unknown>): Promise<readonly string[]> {
  const read = async (): Promise<ReadonlyMap<string, OwnedApplication>> =>
    new Map((await store.ownership.listOwned({ after: "", limit: 1_000 }, soon())).owned.map((row) => [row.id, row]));
  const before = await read();
  const notified = new Set(await notificationsOf(work));
  const after = await read();
  const isNotified = (id: string): boolean => {
    const [was, is] = [before.get(id), after.get(id)];
    const units = [was, is].flatMap((row) => (row === undefined ? [] : [`unit:${row.unitId}`]));
    const isOpen = was === undefined || !was.hasStood || was.isLeaving;
    return [`application:${id}`, ...units, ...(isOpen ? [`status:${id}`] : [])].some((one) => notified.has(one));
  };
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (id) => JSON.stringify(before.get(id)) !== JSON.stringify(after.get(id)),
  );
  return changed.filter((id) => !isNotified(id)).sort();
}
